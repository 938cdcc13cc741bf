from django import forms


class CodeForm(forms.Form):
    """Six digits from the app, or a recovery code; blanks in it are how people read them."""

    code = forms.CharField(max_length=30, error_messages={"required": "Type the code that your app shows."})

    def clean_code(self) -> str:
        return "".join(str(self.cleaned_data["code"]).split())
