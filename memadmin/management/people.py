from django.core.management.base import CommandError

from memadmin.accounts.models import User


def person_called(username: str) -> User:
    """Whose account is open. Raises CommandError with the names there are."""
    try:
        return User.objects.get(username=username, is_active=True)
    except User.DoesNotExist as error:
        names = ", ".join(User.objects.filter(is_active=True).values_list("username", flat=True)[:20])
        raise CommandError(f"There is nobody called {username}. There is: {names or 'nobody yet'}.") from error
