"""Check digits: a number that fails its own is no account, card or identity. Each takes the bare characters."""

from collections.abc import Sequence


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def iban(text: str) -> bool:
    moved = text[4:] + text[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


def weighted(digits: str, weights: Sequence[int], modulus: int) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False)) % modulus


def bsn(digits: str) -> bool:
    """Dutch: 9 digits."""
    return int(digits) > 0 and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1), 11) == 0


def dni(text: str) -> bool:
    """Spanish: 8 digits, or X, Y, Z and 7, and a letter."""
    number = text[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == text[-1]


def nir(digits: str) -> bool:
    """French: 13 digits and two that check them."""
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


def pesel(digits: str) -> bool:
    """Polish: 11 digits."""
    return (10 - weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), 10)) % 10 == int(digits[10])


def cpf(digits: str) -> bool:
    """Brazilian: 11 digits."""
    if len(set(digits)) == 1:
        return False
    for length in (9, 10):
        rest = weighted(digits, range(length + 1, 1, -1), 11)
        if (0 if rest < 2 else 11 - rest) != int(digits[length]):
            return False
    return True


def snils(digits: str) -> bool:
    """Russian: 9 digits and two that check them."""
    return weighted(digits[:9], range(9, 0, -1), 101) % 100 == int(digits[9:])


def chinese_id(text: str) -> bool:
    """18 characters, the last of which may be X."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[weighted(text[:17], weights, 11)] == text[17].upper()


def korean_id(digits: str) -> bool:
    """13 digits."""
    return (11 - weighted(digits, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5), 11)) % 10 == int(digits[12])


def codice_fiscale(text: str) -> bool:
    """Italian: 16 letters and digits."""
    odd = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    places = [int(c) if c.isdigit() else ord(c) - 65 for c in text.upper()]
    total = sum(odd[value] if place % 2 == 0 else value for place, value in enumerate(places[:15]))
    return total % 26 == places[15]


def steuer_id(digits: str) -> bool:
    """German: 11 digits."""
    product = 10
    for digit in digits[:10]:
        rest = (int(digit) + product) % 10 or 10
        product = rest * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def aadhaar(digits: str) -> bool:
    """Indian: 12 digits, by Verhoeff."""
    product, permutation = 0, 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        for _ in range(place % 8):
            value = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)[value]
        permutation = value
        product = _dihedral(product, permutation)
    return product == 0


def _dihedral(one: int, other: int) -> int:
    if one < 5:
        return (one + other) % 5 if other < 5 else 5 + (one + other - 5) % 5
    return 5 + (one - other - 5) % 5 if other < 5 else (one - other) % 5
