import pytest
from django.test import Client

from tests import factories
from tests.conftest import People

LOGIN = "/accounts/login/"
PASSWORD = "correct horse battery"


def sign_in(client: Client, name: str, password: str = PASSWORD, **more: str):
    return client.post(LOGIN, {"login": name, "password": password, **more})


def test_name_and_password_sign_in(client: Client, people: People) -> None:
    answer = sign_in(client, "mira")

    assert answer.status_code == 302
    assert answer["Location"] == "/"
    assert client.get("/").status_code == 200


def test_the_mail_address_signs_in_too(client: Client, db: None) -> None:
    factories.make_user("lena", email="lena@example.org")

    assert sign_in(client, "lena@example.org").status_code == 302


def test_a_wrong_password_says_so_without_telling_whether_the_name_exists(client: Client, people: People) -> None:
    known = sign_in(client, "mira", "wrong").content.decode()
    unknown = sign_in(client, "nobody", "wrong").content.decode()

    assert "Name and password do not match." in known
    assert "Name and password do not match." in unknown


def test_after_five_wrong_tries_even_the_right_password_waits(client: Client, people: People) -> None:
    for _ in range(5):
        sign_in(client, "mira", "wrong")

    answer = sign_in(client, "mira")

    assert answer.status_code != 302
    assert b"Too many wrong tries" in answer.content


def test_a_closed_account_does_not_sign_in(client: Client, people: People) -> None:
    people.reviewer.is_active = False
    people.reviewer.save()

    sign_in(client, "mira")

    assert client.get("/")["Location"].startswith(LOGIN)


def test_nobody_signs_up(client: Client, db: None) -> None:
    assert client.get("/accounts/signup/").status_code == 404


def test_after_sign_in_the_person_is_where_they_wanted_to_be(client: Client, people: People) -> None:
    refused = client.get("/reviews/?state=pending")

    assert refused["Location"] == f"{LOGIN}?next=%2Freviews%2F%3Fstate%3Dpending"
    assert sign_in(client, "mira", next="/reviews/?state=pending")["Location"] == "/reviews/?state=pending"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_after_sign_in_nobody_is_sent_to_another_site(client: Client, people: People, elsewhere: str) -> None:
    assert sign_in(client, "mira", next=elsewhere)["Location"] == "/"


def test_sign_out_wants_a_post(client: Client, people: People) -> None:
    client.force_login(people.reviewer)

    client.get("/accounts/logout/")
    assert client.get("/").status_code == 200

    assert client.post("/accounts/logout/")["Location"] == LOGIN
    assert client.get("/").status_code == 302


def test_the_password_can_be_changed(client: Client, people: People) -> None:
    client.force_login(people.reviewer)
    new = "staple staple staple"

    page = client.get("/accounts/password/change/")
    answer = client.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new})

    assert page.status_code == 200
    assert answer.status_code == 302
    assert sign_in(Client(), "mira", new).status_code == 302


def test_who_has_no_password_sets_one(client: Client, people: People) -> None:
    people.reviewer.set_unusable_password()
    people.reviewer.save()
    client.force_login(people.reviewer)
    new = "staple staple staple"

    assert client.get("/accounts/password/change/")["Location"] == "/accounts/password/set/"
    assert b"Set a password" in client.get("/accounts/password/set/").content
    client.post("/accounts/password/set/", {"password1": new, "password2": new})

    assert sign_in(Client(), "mira", new).status_code == 302


def test_a_short_password_is_refused_with_the_reason(client: Client, people: People) -> None:
    client.force_login(people.reviewer)

    answer = client.post(
        "/accounts/password/change/", {"oldpassword": PASSWORD, "password1": "short1", "password2": "short1"}
    )

    assert b"too short" in answer.content
