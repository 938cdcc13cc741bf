"""Words by which mailboxes of people are told from those of roles."""

_NAMES = """
aaron adam adrian agnes ahmed aisha alan albert alejandro alex alexander alexandra alexei alexey alfred ali alice alicia
alina allison amanda amelia amir amy ana anastasia anders andrea andreas andrei andrew andrey angela anita anja ann anna
anne annika anton antonio ariel arjun arthur astrid barbara beatrice ben benjamin bernd bianca birgit bob boris brian
bruno camila carl carla carlos carmen carol caroline catherine cecilia charles charlotte chen chloe chris christian
christina christine claire clara claudia cristina dan daniel daniela daria david deborah denis diana diego dieter dirk
dmitri dmitry dominik dorothy eduardo edward elena elias elif elisabeth elizabeth ella ellen emil emily emma eric erik
ernst esther eva evelyn fatima felix fernando filip florian fabian francesca francisco frank franz fred frida gabriel
gabriela george gerhard giovanni giulia gloria greta grace greg gustav hannah hans harald harry hassan heidi helen helena
henrik henry hiroshi hugo ibrahim igor ines ingrid irina isabel isabella ivan jack jacob jakob james jan jana jane janet
jason javier jean jennifer jens jessica joan joao john johan johanna jon jonas jonathan jorge jose joseph juan judith
julia julian julie jun jung kai karen karin karl katarina kate katharina kathrin katja kenji kevin kim klaus kristin lars
laura lea lena leo leon leonie liam lily linda lisa lorenzo louis luca lucas lucia luis luisa lukas luke magda magnus
manuel marco marcus margaret maria marie marina mario mark marta martha martin martina mary mateo mathias matteo matthew
mattias max maya mei mehmet melanie michael michel miguel mika mike mikhail milan mira miriam mohamed mohammed monica
monika nadia nancy naomi natalia nathan nicholas nico nicolas nicole niklas nina noah nora odalys olaf oleg olga oliver
olivia omar oscar otto pablo pamela patricia patrick paul paula pavel pedro peter petra philip pierre piotr priya rachel
rafael rahul raj ralf ravi rebecca ricardo richard rita robert roberto rosa rose ruth ryan sabine sam samuel sandra sara
sarah scott sebastian sergei sergey simon sofia solene sonja sophie stefan stefanie stella stephan stephen steve steven
susan susanne sven svetlana takeshi tania tanja tara teresa theo theresa thomas tim timo tina tobias tom tomas tomasz
tony tove ulrich ulrike ursula uwe vera veronika victor victoria viktor vincent vladimir walter wei werner william wolf
xavier yan yana yasmin ying yoko yuki yuri yusuf yves zoe zofia
"""
NAMES = frozenset(_NAMES.split())

_ROLES = """
abuse account accounting accounts admin administrator agent alarm alarms alert alerts api app apps ar archive auth backup
backups bank billing board booking bot bounce bounces bugs build builds buchhaltung careers cases ci claims compliance
confirm contact contacts cron customer customers data deploy desk dev developer developers devops dispute disputes dns
docs domain domains donotreply dpo editor email emails engineering enquiries errors events example export facturation
facturas fax feedback finance finanzen first foo bar ftp fraud git gdpr go group health hello help helpdesk hi hiring
host hostmaster hr hub import inbox incidents info infra inquiries integration integrations invoice invoices it jobs kb
kontakt kundenservice last ledger legal list lists login logs lohn mail mailbox mailer maintenance manager marketing me
media member members merchant merchants mon monitor monitoring name news newsletter no nobody noc node noreply notice
notices notification notifications notify nsa office oncall operations operator ops order orders owner partner partners
pay payment payments payout payouts people personal phishing platform post postbox postfach postmaster press privacy prod
product production purchase purchasing qa query rechnung rechnungen recovery refund refunds registry release releases
reply report reporting reports request requests reset return returns risk robot root sales sandbox search secure security
sender server service services settlement shipping shop sign signup sip sla sms smtp someone spam staff staging stats
status store suggestions support survey svc sync sysadmin system tasks tax team teams tech test tester testing tests
ticket tickets tools trial trust unsubscribe updates user username users vendor vendors verify warehouse web webhook
webmaster website welcome work worker www you your
"""
ROLES = frozenset(_ROLES.split())
FREE_MAIL = frozenset(
    [
        "gmail",
        "googlemail",
        "outlook",
        "hotmail",
        "live",
        "yahoo",
        "ymail",
        "icloud",
        "me",
        "aol",
        "gmx",
        "web",
        "proton",
        "protonmail",
        "pm",
        "tutanota",
        "fastmail",
        "mail",
        "yandex",
        "rambler",
        "bk",
        "inbox",
        "list",
        "qq",
        "163",
        "126",
        "sina",
        "naver",
        "daum",
        "hanmail",
        "orange",
        "wanadoo",
        "free",
        "laposte",
        "libero",
        "seznam",
        "wp",
        "o2",
        "onet",
    ]
)
