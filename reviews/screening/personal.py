"""Data that reaches or identifies a person: mailboxes, phones, addresses, identity and bank numbers, dates of birth."""

import re
from collections.abc import Callable, Iterator

from reviews.screening import checks
from reviews.screening.addresses import ADDRESSES
from reviews.screening.marks import Found
from reviews.screening.people import FREE_MAIL, NAMES, ROLES

_MAIL = re.compile(
    r"(?<![\w.+/:@-])(?P<local>[^\W_][\w.+'-]{0,63}?)(?:@|\s?[\[({]\s?(?:at|@|ät|собака)\s?[\])}]\s?|\s+(?:at|AT)\s+(?=\w+\s+(?:dot|DOT)\s))"
    r"(?P<host>[\w-]+(?:(?:\.|\s?[\[({]\s?(?:dot|punkt|точка|\.)\s?[\])}]\s?|\s+(?:dot|DOT)\s+)[\w-]+)*(?:\.|\s?[\[({]\s?(?:dot|punkt|точка|\.)\s?[\])}]\s?|\s+(?:dot|DOT)\s+)[^\W\d_]{2,})(?![\w@-])",
    re.IGNORECASE,
)
_DOT = re.compile(r"\s?[\[({]\s?(?:dot|punkt|точка|\.)\s?[\])}]\s?|\s+dot\s+", re.IGNORECASE)
_LOCAL = re.compile(r"[._-]+")

_CALL = (
    r"phone|tel(?:ephone|efon|éfono|efono|\.)?|mobile?|mobil|cell|call(?:ed)?|reach(?:ed|able)?|dial|ring|sms|text|whatsapp|signal|handy|"
    r"anruf\w*|ruf\w*|erreichbar|rückruf|joindre|joignable|appel\w*|portable|llam\w+|móvil|celular|ligar|telem\w+|chiam\w+|cellulare|bel|bellen|"
    r"zadzwoń|dzwon\w+|komórk\w+|позвон\w+|звон\w+|тел\w*|моб\w*|подзвон\w*|电话|手机|致电|電話|携帯|전화|연락|ring\w*|puh|هاتف|جوال|טלפון|फोन"
)
# With a country code, in brackets, or behind a word that says what it is.
_INTERNATIONAL = re.compile(r"(?<![\w+/=.-])(?:\+|00)(?=[1-9])(?:[\s().\u00a0\u202f-]?\d){8,15}(?![\w/])")
_AREA = re.compile(r"(?<![\w(.])\(\d{2,5}\)[ .-]?\d{2,5}(?:[ .-]?\d{2,5}){1,3}(?![\w-])")
_SAID = re.compile(
    rf"(?<!\w)(?:{_CALL})(?!\w)[^\d\n]{{0,40}}?(?P<v>(?<![\w.:/#-])\d(?:[\s().\u00a0\u202f/-]{{0,2}}\d){{6,13}})(?![\w.:-]*\w)",
    re.IGNORECASE,
)
_NANP = re.compile(r"(?<![\w.-])[2-9]\d{2}[-. ][2-9]\d{2}[-. ]\d{4}(?![\w.-]*\d)")

_MONTH = (
    r"(?:jan|feb|mar|m[äa]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|janv|f[ée]vr|avr|juin|juil|ao[uû]t|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|out|mrt|"
    r"янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)[^\W\d_]*\.?"
)
_DATE = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.|º|er)?\s*(?:de\s+|of\s+)?{_MONTH},?\s*(?:de\s+)?\d{{4}}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
    r"|\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\s?\d{1,2}[-./]\s?(?:\d{4}|\d{2})|\d{4}\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일])"
)
_BORN = (
    r"date of birth|birth\s?dates?|birthday|d\.?o\.?b\.?|born(?: on)?|née?\(?e?\)?(?: le)?|date de naissance|geboren(?: am)?|geb\.|geburtsdatum|geburtstag|"
    r"nacid[oa](?: el)?|fecha de nacimiento|nascid[oa](?: em)?|data de nascimento|nat[oa](?: il)?|data di nascita|geboortedatum|ur\.|urodzon[ya]|data urodzenia|"
    r"дата рождения|родил(?:ся|ась)|д\.\s?р\.|дата народження|народи(?:вся|лася)|född|født|syntynyt|doğum tarihi|出生(?:日期|于)?|生年月日|生まれ|생년월일|narozen[aý]?"
)
_BIRTH = re.compile(rf"(?<!\w)(?:{_BORN})(?!\w)[^\n\d]{{0,25}}?(?P<v>{_DATE})", re.IGNORECASE)
_BORN_BEHIND = re.compile(rf"(?P<v>{_DATE})\s?(?:生まれ|出生|生)", re.IGNORECASE)

# A column of a table, and a row of it.
_COLUMN = re.compile(
    rf"^[^\n]*\b(?:dob|birth_?da(?:te|y)|date_of_birth|birthdate|geburtsdatum|fecha_nacimiento|date_naissance)\b[^\n]*\n(?:[|: -]+\n)?[^\n]*?(?P<v>{_DATE})",
    re.IGNORECASE | re.MULTILINE,
)

_DOCUMENT = (
    r"passport|passeport|pasaporte|passaporte?|passaporto|reisepass|ausweis|personalausweis|id[ -]card|identity card|national id|driv(?:er|ing)(?:'s|s)? licen[cs]e|licen[cs]e number|"
    r"führerschein|permis de conduire|carnet de conducir|licencia|patente|carta d'identità|carte d'identité|paspoort|rijbewijs|dowód|paszport|prawo jazdy|"
    r"паспорт|водительск\w+|посвідчення|护照|身份证|驾驶证|旅券|パスポート|免許証|여권|pass(?:nummer)|körkort|førerkort|جواز|דרכון"
)
_DOCUMENTS = re.compile(
    rf"(?<!\w)(?:{_DOCUMENT})\w*[^\n\d]{{0,30}}?(?P<v>(?<![\w-])(?=(?:[ -]?[A-Z]{{0,3}}\d){{4}})[A-Z0-9](?:[ -]?[A-Z0-9]){{5,13}})(?![\w-])",
    re.IGNORECASE,
)

Check = Callable[[str], bool]


def _plain(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])(?:{pattern})(?![\w-]|\.\d)")


def _said(words: str, pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)[^\n\d]{{0,30}}?(?P<v>(?<![\w-]){pattern})(?![\w-])", re.IGNORECASE)


# (pattern, check of its bare characters, what it is)
_NUMBERS: list[tuple[re.Pattern[str], Check, str]] = [
    (
        _plain(r"[A-Z]{2}\d{2}(?:[  \u00a0]?[A-Z0-9]{4}){2,7}(?:[ \u00a0]?[A-Z0-9]{1,3})?"),
        lambda n: 15 <= len(n) <= 34 and checks.iban(n),
        "a bank account (IBAN)",
    ),
    (
        _plain(r"(?:[3-6]\d{3}|2[2-7]\d{2})(?:[ -]?\d){9,15}"),
        lambda n: 13 <= len(n) <= 19 and "000000" not in n and checks.luhn(n),
        "a card number",
    ),
    (_plain(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"), lambda _: True, "a US social security number"),
    (_plain(r"[XYZ]?\d{7,8}-?[A-HJ-NP-TV-Z]"), lambda n: len(n) == 9 and checks.dni(n), "a Spanish identity number"),
    (
        _plain(r"[12]\s?\d{2}\s?(?:0[1-9]|1[0-2]|[2-9]\d)\s?\d{2}\s?\d{3}\s?\d{3}\s?\d{2}"),
        checks.nir,
        "a French social security number",
    ),
    (_plain(r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]"), checks.codice_fiscale, "an Italian tax code"),
    (_plain(r"\d{3}\.\d{3}\.\d{3}-\d{2}"), checks.cpf, "a Brazilian tax number"),
    (_plain(r"\d{3}-\d{3}-\d{3}[ -]\d{2}"), checks.snils, "a Russian insurance number"),
    (
        _plain(r"[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])\d{3}[\dXx]"),
        checks.chinese_id,
        "a Chinese identity number",
    ),
    (_plain(r"\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])-[1-8]\d{6}"), checks.korean_id, "a Korean registration number"),
    (
        _plain(r"(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])[-+]\d{4}"),
        lambda n: checks.luhn(n[-10:]),
        "a Swedish identity number",
    ),
    (
        _plain(r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}[-+A-F]\d{3}[0-9A-FHJ-NPR-Y]"),
        lambda n: (
            len(n) == 10 and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(n[:6] + re.sub(r"\D", "", n[6:9])) % 31] == n[9]
            if n[:6].isdigit() and n[6:9].isdigit()
            else False
        ),
        "a Finnish identity number",
    ),
    (
        _said(r"bsn|burgerservicenummer|sofinummer", r"\d{4}[. ]?\d{2}[. ]?\d{3}|\d{9}"),
        lambda n: len(n) == 9 and checks.bsn(n),
        "a Dutch citizen number",
    ),
    (_said(r"pesel", r"\d{11}"), checks.pesel, "a Polish identity number"),
    (_said(r"cpf", r"\d{11}"), checks.cpf, "a Brazilian tax number"),
    (_said(r"снилс", r"\d{11}"), checks.snils, "a Russian insurance number"),
    (
        _said(
            r"steuer-?id\w*|steueridentifikationsnummer|identifikationsnummer|idnr\.?", r"\d{2} ?\d{3} ?\d{3} ?\d{3}"
        ),
        checks.steuer_id,
        "a German tax number",
    ),
    (_said(r"aadhaar|आधार", r"\d{4} ?\d{4} ?\d{4}"), checks.aadhaar, "an Indian identity number"),
    (
        _said(r"ssn|social security(?: number| no\.?)?", r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
        lambda _: True,
        "a US social security number",
    ),
    (_said(r"инн", r"\d{12}"), lambda _: True, "a Russian tax number"),
    (
        _said(r"national insurance(?: number| no\.?)?|nino|ni number", r"[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]"),
        lambda _: True,
        "a British insurance number",
    ),
    (
        _said(r"personnummer|fødselsnummer|cpr(?:-nummer| nummer)?", r"\d{6}[ -]?\d{4,5}"),
        lambda _: True,
        "an identity number",
    ),
    (_said(r"マイナンバー|個人番号", r"\d{4}[ -]?\d{4}[ -]?\d{4}"), lambda _: True, "a Japanese identity number"),
    (_said(r"rodné číslo|rč|rodne cislo", r"\d{6}/?\d{3,4}"), lambda _: True, "an identity number"),
    (_said(r"tc kimlik(?: no)?|kimlik no|t\.c\.", r"\d{11}"), lambda _: True, "a Turkish identity number"),
    (
        _said(r"svnr|sozialversicherungsnummer|sv-nummer|ahv(?:-nr\.?)?", r"[\d.A-Z ]{10,16}"),
        lambda n: sum(c.isdigit() for c in n) >= 8,
        "an insurance number",
    ),
]
_BARE = re.compile(r"[^0-9A-Za-z]")


def find(text: str) -> Iterator[Found]:
    end = -1
    for found in sorted(_all(text), key=lambda one: (one.start, -one.end)):
        if found.start >= end:
            yield found
            end = found.end


def _all(text: str) -> Iterator[Found]:
    for start, end, what in _mails(text):
        yield _mark(start, end, what)
    for pattern, check, what in _NUMBERS:
        for match in pattern.finditer(text):
            group = "v" if "v" in pattern.groupindex else 0
            if check(_BARE.sub("", match[group]).upper()):
                yield _mark(*match.span(group), what)
    for pattern in (_INTERNATIONAL, _AREA, _NANP, _SAID):
        for match in pattern.finditer(text):
            group = "v" if "v" in pattern.groupindex else 0
            if _is_phone(match[group]):
                yield _mark(*match.span(group), "a phone number")
    for pattern in (_BIRTH, _COLUMN, *([_BORN_BEHIND] if "生" in text else [])):
        for match in pattern.finditer(text):
            yield _mark(*match.span("v"), "a date of birth")
    for match in _DOCUMENTS.finditer(text):
        yield _mark(*match.span("v"), "the number of a passport, licence or identity card")
    for pattern in ADDRESSES:
        for match in pattern.finditer(text):
            yield _mark(*match.span(), "a postal address")


def _mark(start: int, end: int, what: str) -> Found:
    return Found("pii", start, end, f"It looks like {what}.")


def _is_phone(number: str) -> bool:
    digits = re.sub(r"\D", "", number)
    return (
        7 <= len(digits) <= 15
        and len(set(digits)) > 2
        and not re.fullmatch(r"\d{4}[-./]\d{2}[-./]\d{2}", number.strip())
    )


def _mails(text: str) -> Iterator[tuple[int, int, str]]:
    if "@" not in text and " at" not in text.lower() and "[at" not in text.lower() and "(at" not in text.lower():
        return
    for match in _MAIL.finditer(text):
        if _is_person(match["local"].lower(), _DOT.sub(".", match["host"].lower())):
            yield *match.span(), "a personal mailbox"


def _is_person(local: str, host: str) -> bool:
    labels = host.split(".")
    parts = [part for part in _LOCAL.split(local.partition("+")[0]) if part]
    words = [part.rstrip("0123456789") for part in parts]
    if not parts or ROLES & set(words) or any(part.isdigit() for part in parts[:1]):
        return False
    if {"lists", "list", "packages", "groups", "noreply", "users"} & set(labels[:-1]):
        return False
    if "-" in local and not NAMES & set(words):
        return False
    if labels[0] in FREE_MAIL and len(labels) == 2:
        return True
    reserved = len(labels) == 2 and labels[0] == "example"
    if len(words) >= 2 and all(word.isalpha() for word in words):
        return not (reserved and {"john", "jane", "doe", "smith"} >= set(words))
    return words[0] in NAMES and not (reserved and words[0] in {"alice", "bob", "john", "jane"})
