"""`memadmin up`: the whole product on one machine with one command."""
