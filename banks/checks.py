"""System checks of this app (`manage.py check`)."""
