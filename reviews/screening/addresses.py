"""Postal addresses: a street with a house number, and a town with its code near it."""

import re

_UP = r"[A-ZÀ-ÖØ-ÞĀŁŚŻŹĆĄĘŃÓ]"
_US_STATE = r"(?:A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEHINOPST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])"
_STREET = (
    r"(?:Street|St\.?|Avenue|Ave\.?|Road|Rd\.?|Lane|Ln\.?|Drive|Dr\.?|Boulevard|Blvd\.?|Court|Ct\.?|Way|Place|Pl\.?|Square|Sq\.?|Terrace|Close|"
    r"Crescent|Cres\.?|Parkway|Pkwy\.?|Circle|Highway|Hwy\.?|Gardens|Grove|Mews|Row|Hill|Walk|Quay|Wharf|Green|View|Rise)"
)
_GB = r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"
_NEAR = r"[^\n;]{0,60}?"

ADDRESSES = [
    re.compile(
        rf"(?<![\w.])\d{{1,5}}[A-Za-z]? (?:{_UP}[\w'’.-]* ){{1,4}}{_STREET}\b(?:{_NEAR}(?:\b{_US_STATE}\s+\d{{5}}(?:-\d{{4}})?|\b{_GB}|\b[A-Z]\d[A-Z] ?\d[A-Z]\d|\b(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT) \d{{4}})|,? (?:Apt|Apartment|Flat|Unit|Suite|Ste)\.? ?\w+)"
    ),
    re.compile(rf"\bP\.?\s?O\.? Box \d+{_NEAR}\b(?:{_US_STATE}\s+\d{{5}}|{_GB})"),
    # German, and alike in Austria and Switzerland
    re.compile(
        rf"(?<![\w.-]){_UP}[\w.-]{{0,30}}(?: {_UP}[\w.-]{{0,30}}){{0,2}}(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|ring|damm|ufer|steig|chaussee|(?: (?:Straße|Strasse|Str\.|Weg|Platz|Allee|Ring|Damm|Ufer))) ?\d{{1,4}} ?[a-z]?(?:[-/]\d+)?,?{_NEAR}\b(?:[DAL]-|CH-)?\d{{4,5}} {_UP}[\w-]+"
    ),
    # French
    re.compile(
        rf"\b\d{{1,4}}(?: ?(?:bis|ter|quater))?,? (?:rue|avenue|av\.|boulevard|bd|allée|place|chemin|impasse|quai|route|cours|square|passage)\b[^\n;\d]{{2,60}}?,? ?\d{{5}} {_UP}[\w-]+",
        re.IGNORECASE,
    ),
    # Spanish and Portuguese
    re.compile(
        rf"\b(?:Calle|C/|Avenida|Avda\.?|Av\.|Plaza|Pza\.|Paseo|Camino|Ronda|Carrera|Rua|Travessa|Praça|Largo|Alameda)\s[^\n;\d]{{2,50}}?,? ?(?:n[.º°]*\s?)?\d{{1,5}}{_NEAR}\b\d{{4,5}}(?:-\d{{3}})?\b"
    ),
    # Italian
    re.compile(
        rf"\b(?:Via|Viale|Piazza|Piazzale|Corso|Vicolo|Largo|Strada)\s[^\n;\d]{{2,50}}?,? ?\d{{1,4}}(?:/?[a-zA-Z])?,?{_NEAR}\b\d{{5}}\b"
    ),
    # Dutch and Belgian
    re.compile(
        rf"(?<![\w.'-]){_UP}[\w.'-]{{0,40}}(?:straat|laan|weg|gracht|plein|kade|singel|dijk|dreef|hof|steeg|baan) \d{{1,4}} ?[a-zA-Z]?(?:-\d+)?,?{_NEAR}\b(?:\d{{4}} ?[A-Z]{{2}}\b|\d{{4}} {_UP}\w+)"
    ),
    # Nordic
    re.compile(
        rf"(?<![\w.-]){_UP}[\w.-]{{0,40}}(?:gatan?|vägen|väg|gate[n]?|veien|vei|vej|gade|katu|tie|plads|torg|torget) \d{{1,4}} ?[A-Za-z]?,?{_NEAR}\b\d{{3}} ?\d{{1,2}} {_UP}\w+"
    ),
    # Polish and Czech
    re.compile(
        rf"\b(?:ul\.|al\.|pl\.|os\.)\s?{_UP}[^\n;\d]{{2,50}}? ?\d{{1,4}}\w?(?:/\d+)?,?{_NEAR}\b\d{{2}}-\d{{3}}\b"
    ),
    re.compile(rf"\b{_UP}[\wěščřžýáíéůú]+(?:ova|ská|cká|ní) \d{{1,4}}(?:/\d+)?,{_NEAR}\b\d{{3}} \d{{2}}\b"),
    # Russian and Ukrainian
    re.compile(
        r"(?:ул\.|улица|улице|пр-т|просп\.|проспект|пер\.|переулок|бульвар|б-р|ш\.|шоссе|вул\.|вулиця|наб\.|площадь|пл\.)\s?[А-ЯЁІЇЄ][^\n;\d]{1,40}?,? ?(?:д\.|дом|буд\.)? ?\d{1,4}[а-я]?(?:/\d+)?(?:,? ?(?:к\.|корп\.|стр\.|кв\.|оф\.|квартира) ?\d+)?",
        re.IGNORECASE,
    ),
    # Japanese, Chinese, Korean
    re.compile(r"〒 ?\d{3}-?\d{4}[^\n。、,]{0,50}"),
    re.compile(
        r"[一-龥]{2,4}[都道府県][一-龥ぁ-んァ-ヶ]{1,12}[市区町村郡][^\n。]{0,20}?\d+(?:丁目|番地?|[-－−]\d+|号)"
    ),
    re.compile(
        r"[一-龥]{2,8}(?:省|市|自治区)?[一-龥]{1,10}[市区县][一-龥\d]{0,14}(?:路|街|道|巷|弄|大道)\s?\d+\s?[号號][^\n。，]{0,24}"
    ),
    re.compile(r"[가-힣]{1,8}(?:시|도)\s?[가-힣]{1,8}(?:구|군|시)\s?[가-힣\d]{1,12}(?:로|길|동)\s?\d+(?:-\d+)?"),
    re.compile(r"\b[\wçğıöşü]+ (?:Mah\.|Mahallesi|Cad\.|Caddesi|Sok\.|Sokak)[^\n;]{0,40}?No:? ?\d+", re.IGNORECASE),
]
