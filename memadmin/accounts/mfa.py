from allauth.mfa.adapter import DefaultMFAAdapter

from banks import crypto


class EncryptedFactorAdapter(DefaultMFAAdapter):
    """Secrets of second factors are stored under MEMADMIN_ENCRYPTION_KEYS, and rotate with them."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "That code is not right. Codes change every half minute; type the one that is shown now.",
    }

    def encrypt(self, text: str) -> str:
        return crypto.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return crypto.decrypt(encrypted_text)
