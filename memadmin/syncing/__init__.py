"""`memadmin sync`: a developer's machine and a memadmin elsewhere. A client of the API, without Django."""
