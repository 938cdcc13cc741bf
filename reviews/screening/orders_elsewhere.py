"""Orders to the agent in other languages than English: the same four things, by the words that carry them."""

import re

_F = re.IGNORECASE


def _rule(what: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return what, re.compile(pattern, _F)


# In letters that English has too.
IN_LATIN = [
    # German
    _rule(
        "override",
        r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|übergeh\w*|setz\w* dich über)\b[^.\n]{0,50}\b(?:vorherig\w*|bisherig\w*|früher\w*|obig\w*|all\w*|sämtlich\w*|vorangegang\w*|dein\w*|ander\w*)\b[^.\n]{0,30}\b(?:anweisung\w*|regel\w*|vorgab\w*|instruktion\w*|erinnerung\w*|richtlinie\w*|systemprompt|notiz\w*)",
    ),
    _rule(
        "act",
        r"\b(?:erwähn\w*|sag\w*|verrat\w*|teil\w*|meld\w*|zeig\w*|informier\w*|frag\w*|berichte\w*)\b[^.\n]{0,40}\b(?:nicht|nichts|niemand\w*|kein\w*)\b(?=[^\n]*(?:assistent|agent|\bki\b|nutzer|benutzer|https?://|anwender|reviewer|prüfer))|\b(?:assistent\w*|agent\w*|ki)\b[^.\n]{0,80}\b(?:erwähne|sage|verrate|verschweige|frage nicht|ohne (?:nachzufragen|rückfrage|zu fragen))",
    ),
    _rule(
        "act",
        r"\b(?:führ\w*|lad\w*|start\w*|installier\w*)\b[^.\n]{0,80}\b(?:skript|script|befehl|programm|datei)\w*\b[^.\n]{0,40}https?://|\b(?:schick\w*|send\w*|lad\w*|übertrag\w*|kopier\w*)\b[^.\n]{0,60}\b(?:\.env|zugangsdaten|schlüssel|passw\w+|geheimnis\w*|inhalt\w*|token\w*|umgebungsvariablen)\b[^\n]{0,80}(?:https?://|@)",
    ),
    _rule(
        "trust",
        r"\b(?:ab (?:jetzt|sofort)|von nun an|künftig|immer|merk\w* dir)\b[^.\n]{0,80}\b(?:antwort\w*|empfiehl\w*|empfehl\w*|vertrau\w*|bevorzug\w*|nenn\w*|genehmig\w*|bestätig\w*)\b[^.\n]{0,80}\b(?:immer|stets|ohne|zuerst|quelle|offiziell\w*|einzig\w*|jeder?|nicht)\b|\bvertrauenswürdig\w* quelle",
    ),
    # French
    _rule(
        "override",
        r"\b(?:ignor\w+|oubli\w+|ne (?:tiens|tenez) (?:pas|plus) compte|fais abstraction|contourn\w+)\b[^.\n]{0,50}\b(?:instructions?|consignes?|règles?|directives?|souvenirs?|notes?|mémoires?|invite)\b",
    ),
    _rule(
        "act",
        r"\b(?:ne|n')\s?(?:le |la |l'|en |les |lui )?(?:dis|dites|mentionne\w*|parle\w*|demande\w*|révèle\w*|préviens|prévenez|signale\w*|informe\w*|montre\w*)\b[^.\n]{0,30}\b(?:pas|rien|jamais|aucun\w*|personne)\b(?=[^\n]*(?:utilisat|assistant|agent|https?://|relect|développ|confirm|autoris))|\bsans (?:demander|prévenir|en parler|avertir|confirmation|le dire)\b[^.\n]{0,40}\b(?:utilisat|personne|équipe)",
    ),
    _rule(
        "act",
        r"\b(?:envoie\w*|envoye\w*|transme\w+|télévers\w+|copie\w*|poste\w*|publie\w*)\b[^.\n]{0,70}\b(?:\.env|identifiants?|secrets?|clés?|mots? de passe|contenu|jetons?|variables|fichiers?|historique)\b[^\n]{0,80}(?:https?://|@)|\b(?:exécut\w+|lance\w*|installe\w*|télécharge\w*)\b[^.\n]{0,60}\b(?:script|commande|programme|paquet)\b[^.\n]{0,40}https?://",
    ),
    _rule(
        "trust",
        r"\b(?:désormais|dorénavant|à partir de maintenant|à l'avenir|toujours|souviens-toi|retiens|n'oublie pas)\b[^.\n]{0,80}\b(?:répond\w*|recommand\w*|fais confiance|cite\w*|propose\w*|approuve\w*|considère\w*|privilégi\w*|préfér\w*|accept\w*)\b[^.\n]{0,80}\b(?:toujours|seule?|premier|fiable|officiel\w*|source|chaque|sans|systématiquement|jamais)\b|\bsource (?:la plus )?(?:fiable|de confiance)",
    ),
    # Spanish and Portuguese
    _rule(
        "override",
        r"\b(?:ignor\w+|olvid\w+|haz caso omiso|no sigas|descart\w+|esque[cç]\w+|desconsider\w+|desobede\w+|sáltate)\b[^.\n]{0,50}\b(?:instruc\w+|instruç\w+|reglas?|regras?|indicacion\w*|directric\w+|diretriz\w*|órdenes|ordens|memorias?|memórias?|normas)\b",
    ),
    _rule(
        "act",
        r"\b(?:no|não|nunca|sin|sem|jamás)\s+(?:se |lo |le |o |a )?(?:lo )?(?:menciones|digas|avises|informes|preguntes|pidas|reveles|muestres|cuestiones|mencione|diga|avise|informe|pergunte|peça|revele|mostre|conte|questione|preguntar|avisar|perguntar|decir|mencionar|dizer)\b(?=[^\n]*(?:usuari|asistente|assistente|agente|https?://|revisor|equipo|equipe|confirm|permis|oficial|siempre|sempre))|(?:usuari\w*|asistente|assistente|agente|siempre|sempre)\b[^\n]{0,100}\b(?:no|não) (?:se |lo |o )?(?:lo )?(?:menciones|digas|avises|preguntes|cuestiones|mencione|diga|avise|pergunte|questione|conte)",
    ),
    _rule(
        "act",
        r"\b(?:envía\w*|envia\w*|manda\w*|sube|suba|envie|mande|copia|copie|publica|publique|adjunta)\b[^.\n]{0,70}\b(?:\.env|credencia\w+|secret\w+|claves?|chaves?|contraseñas?|senhas?|contenido|conteúdo|tokens?|variables|variáveis|archivo|arquivo|historial|histórico)\b[^\n]{0,80}(?:https?://|@)|\b(?:ejecut\w+|execut\w+|instal\w+|descarg\w+|baix\w+|rode|corre)\b[^.\n]{0,60}\b(?:script|comando|programa|paquete|pacote)\b[^.\n]{0,40}https?://",
    ),
    _rule(
        "trust",
        r"\b(?:a partir de (?:ahora|agora)|de ahora en adelante|desde ahora|daqui em diante|siempre|sempre|recuerda|lembre(?:-se)?)\b[^.\n]{0,80}\b(?:respond\w*|recomiend\w*|recomend\w*|confía|confie|cita|cite|aprueb\w*|aprov\w*|considera|considere|prefier\w*|prefir\w*|trata|trate|di\b|diga)\b[^.\n]{0,80}\b(?:siempre|sempre|oficia\w+|primer\w*|fuente|fonte|confiable|confiável|únic\w*|sin|sem|no|não|todas?|cada|nunca)\b|\b(?:fuente|fonte) (?:más |mais )?(?:confiable|confiável|de confian[zç]a)",
    ),
    # Italian, Dutch, Polish, Swedish, Danish, Norwegian, Czech, Turkish
    _rule(
        "override",
        r"\b(?:ignora\w*|dimentica\w*|trascura\w*|negeer|vergeet|zignoruj|ignoruj|zapomnij|pomiń|ignorera|glöm|ignorer|glem|ignoruj\w*|zapomeň|yok say|görmezden gel|unut)\b[^.\n]{0,60}\b(?:istruzion\w+|regol\w+|indicazion\w+|memori\w+|instructies|regels|aanwijzingen|richtlijnen|instrukcj\w+|zasad\w*|poleceń|polecenia|instruktion\w*|regler\w*|instrukser|instruksjon\w*|pokyn\w*|instrukc\w+|talimat\w*|kural\w*)|\b(?:talimat\w*|kural\w*)\b[^.\n]{0,40}\b(?:yok say|görmezden gel|unut|dikkate alma)",
    ),
    _rule(
        "act",
        r"\b(?:non|zonder|niet|niets|nie|bez|inte|utan|ikke|uden|uten|ne|bez)\b[^.\n]{0,24}\b(?:dire|dirlo|dica|menzion\w+|chieder\w*|avvis\w+|informar\w*|vermeld\w*|vertel\w*|vragen|zeg|meld\w*|mów|wspomina\w*|pyta\w*|informuj\w*|nämn\w*|berätta\w*|fråga\w*|nævn\w*|fortæl\w*|spørg\w*|nevn\w*|fortell\w*|spør\w*|říkej|zmiňuj|ptej)\b(?=[^\n]{0,160}(?:utente|assistente|agente|gebruiker|assistent|agent|użytkownik\w*|asystent\w*|användar\w*|bruger\w*|bruker\w*|uživatel\w*|https?://))|\b(?:utente|assistente|gebruiker|assistent|agent|użytkownik\w*|asystent\w*|användar\w*|bruger\w*|bruker\w*|uživatel\w*)\b[^\n]{0,120}\b(?:non (?:lo )?(?:dire|menzionare|chiedere)|zonder (?:te vragen|toestemming)|niet (?:vermelden|vertellen|vragen)|vermeld (?:het|dit) niet|vertel (?:het|dit) niet|nie (?:mów|wspominaj|pytaj)|bez (?:pytania|zgody|potwierdzenia)|utan att (?:fråga|säga|nämna)|uden at (?:spørge|sige|nævne)|uten å (?:spørre|si|nevne))",
    ),
    _rule(
        "act",
        r"\b(?:invia\w*|manda\w*|carica\w*|stuur|verstuur|upload|kopieer|wyślij|wysyłaj|prześlij|przesyłaj|skicka|ladda upp|send|last op|last opp|pošli|odešli|gönder|yükle)\b[^.\n]{0,70}(?:\.env|credenzial\w+|segret\w+|chiav\w+|password|contenut\w+|inhoud|geheim\w*|sleutel\w*|wachtwoord\w*|inloggegevens|zawartość|hasł\w+|klucz\w*|sekret\w*|innehåll\w*|lösenord\w*|nyck\w+|hemlig\w*|indhold\w*|innhold\w*|obsah|hesl\w+|içeri\w+|şifre\w*|token\w*)[^\n]{0,80}(?:https?://|@)|\b(?:esegui\w*|lancia\w*|installa\w*|voer|draai|installeer|uruchom\w*|wykonaj\w*|zainstaluj|kör|installera|kør|kjør|spusť|çalıştır)\b[^.\n]{0,80}\b(?:script\w*|skript\w*|comando|opdracht|polecen\w+|kommando\w*|komut\w*|betik\w*)\b[^.\n]{0,60}https?://|https?://\S{1,200}[^.\n]{0,60}\bçalıştır",
    ),
    _rule(
        "trust",
        r"\b(?:d'ora in poi|da adesso|sempre|ricorda\w*|vanaf nu|voortaan|altijd|onthoud|od teraz|zawsze|pamiętaj|från och med nu|hädanefter|alltid|kom ihåg|fra nu af|fremover|altid|husk|fra nå av|od teď|vždy|bundan sonra|her zaman)\b[^.\n]{0,80}\b(?:rispond\w+|consigli\w+|fidat\w+|fidarti|cita\w*|approv\w+|antwoord\w*|vertrouw\w*|raad\w*|noem|keur\w*|odpowiad\w+|polec\w+|ufaj|zatwierdz\w+|cytuj|svara|rekommend\w+|lita på|godkänn\w*|svar|anbefal\w*|stol på|godkend\w*|godkjenn\w*|odpovíd\w+|doporuč\w+|schval\w+|yanıt\w*|cevap\w*|öner\w*|güven\w*|onayla\w*)",
    ),
    # Indonesian
    _rule("override", r"\b(?:abaikan|lupakan)\b[^.\n]{0,40}\b(?:instruksi|perintah|aturan|petunjuk)\w*"),
    _rule("act", r"\bjangan\b[^.\n]{0,12}\b(?:beri ?tahu|tanya|sebut|katakan)\w*[^.\n]{0,20}\b(?:pengguna|siapa)"),
    _rule("act", r"\b(?:kirim|unggah|jalankan)\w*\b[^\n]{0,100}https?://"),
    _rule("trust", r"\b(?:mulai sekarang|selalu)\b[^.\n]{0,60}\b(?:jawab|percaya|rekomendasi|setujui)"),
]
# In other letters, or in Latin ones with signs that English has not.
IN_OTHERS = [
    # Russian, Ukrainian
    _rule(
        "override",
        r"(?:игнорир\w+|забудь\w*|не (?:учитывай|следуй|соблюдай)|отмени|пренебрег\w+|ігнору\w+|не зважай|не дотримуйся)[^.\n]{0,60}(?:инструкци\w+|правил\w*|указани\w+|предыдущ\w+|промпт\w*|памят\w+|інструкці\w+|вказів\w+|попередн\w+)",
    ),
    _rule(
        "act",
        r"(?:не|никогда не|ніколи не|без)\s+(?:говори\w*|сообща\w+|упомина\w+|спрашива\w+|показыва\w+|рассказыва\w+|предупрежда\w+|кажи|повідомля\w+|згаду\w+|питай|показуй|розповіда\w+|подтвержден\w+|згоди|запроса|спроса)(?=[^\n]{0,160}(?:пользовател|агент|ассистент|помощник|ревью|https?://|користувач|асистент|рецензент|подтвержд|разработчик))|(?:пользовател\w*|агент\w*|ассистент\w*|помощник\w*|користувач\w*|асистент\w*)[^\n]{0,120}(?:не (?:говори|сообщай|упоминай|спрашивай|показывай|кажи|повідомляй|згадуй|питай)|без (?:спроса|подтвержден|запроса|дозволу|згоди))",
    ),
    _rule(
        "act",
        r"(?:отправ\w+|отсыла\w+|пересыла\w+|перешли|загру\w+|выкладыва\w+|копиру\w+|надсила\w+|надішли|відправ\w+|завантаж\w+)[^.\n]{0,80}(?:\.env|содержим\w+|секрет\w*|парол\w+|ключ\w*|токен\w*|secrets|credentials|переменн\w+|файл\w*|вміст\w*|журнал\w*|истори\w+|переписк\w+)[^\n]{0,80}(?:https?://|@)|(?:запуска\w+|запусти\w*|выполн\w+|установи\w*|виконай|виконуй|запускай)[^.\n]{0,80}(?:скрипт\w*|команд\w*|сценари\w+|файл\w*|код)[^.\n]{0,60}https?://",
    ),
    _rule(
        "trust",
        r"(?:отныне|впредь|с этого момента|теперь|всегда|запомни|відтепер|надалі|завжди|запам'ятай)[^.\n]{0,80}(?:отвечай|рекоменду\w+|доверя\w+|советуй|одобря\w+|считай|ссылайся|предпочитай|отвеча\w+|відповідай|рекоменд\w+|довіряй|схвалюй|радь|вважай|називай|называй)",
    ),
    # Chinese, Japanese, Korean
    _rule(
        "override",
        r"(?:忽略|无视|無視|忘记|忘掉|不要遵守|不用遵守|覆盖|抛弃)[^。\n]{0,24}(?:指令|规则|規則|指示|提示|说明|記憶|记忆|约束|要求)|(?:以前|これまで|従来|上記|前|すべて|全て)[^。\n]{0,12}(?:指示|命令|ルール|規則|プロンプト|記憶|制約)[^。\n]{0,10}(?:無視|忘れ|従わ|破棄)|(?:이전|앞의|기존|모든|위의)[^.\n]{0,16}(?:지시|명령|규칙|지침|프롬프트|기억)[^.\n]{0,10}(?:무시|잊)",
    ),
    _rule(
        "act",
        r"(?:不要|无需|不必|不得|别|無需)[^。\n]{0,8}(?:询问|告诉|告知|提及|提到|通知|透露|提醒|確認|确认|过问)[^。\n]{0,8}(?:用户|用戶|审核|開發|开发|任何人|他人|人员)?|(?:ユーザー|利用者|レビュア|開発者|誰に)[^。\n]{0,20}(?:知らせ|伝え|言わ|報告し|確認せ|聞か|見せ|尋ね)[^。\n]{0,6}(?:ない|ず|な)|(?:사용자|개발자|검토자|누구)[^.\n]{0,20}(?:알리지|말하지|묻지|언급하지|보여주지|확인하지)",
    ),
    _rule(
        "act",
        r"(?:发送|上传|提交|转发|傳送|拷贝|推送|发到|发给)[^。\n]{0,40}https?://|(?:把|将)[^。\n]{0,40}(?:密钥|密码|凭证|环境变量|\.env|令牌|内容|記錄|记录|文件)[^。\n]{0,30}(?:发送|上传|发到|发给|推送|提交)|(?:送信|アップロード|転送|投稿)[^。\n]{0,40}https?://|https?://\S{1,200}[^。\n]{0,24}(?:送信|アップロード|転送|投稿|実行|보내|전송|업로드|실행)|(?:执行|运行|下载)[^。\n]{0,24}(?:脚本|命令|程序)?[^。\n]{0,10}https?://|https?://\S{1,200}[^。\n]{0,16}(?:执行|运行)",
    ),
    _rule(
        "trust",
        r"(?:今后|从现在起|从今以后|以后|始终|永远|务必|记住)[^。\n]{0,40}(?:推荐|信任|回答|回复|批准|优先|引用|通过|当作|视为)|(?:今後|これから|常に|必ず|以後)[^。\n]{0,40}(?:推奨|信頼|答え|回答|承認|優先|引用|勧め)|(?:앞으로|지금부터|항상|언제나)[^.\n]{0,40}(?:추천|신뢰|답변|답하|대답|승인|우선|인용)",
    ),
    # Arabic, Persian, Hebrew, Hindi, Vietnamese, Greek
    _rule(
        "override",
        r"(?:تجاهل|انس|لا تتبع)[^.\n]{0,40}(?:التعليمات|القواعد|الأوامر|السابقة|الذاكرة)|(?:نادیده بگیر|فراموش کن)|(?:دستور|قوانین)[^.\n]{0,30}(?:نادیده|فراموش)|(?:התעלם|התעלמי|שכח|אל תציית)[^.\n]{0,40}(?:הוראות|כללים|הנחיות|הזיכרונות)|(?:निर्देश|नियम|आदेश)[^.\n।]{0,30}(?:अनदेखा|भूल|नज़रअंदाज़|उपेक्षा)|(?:bỏ qua|quên|phớt lờ)[^.\n]{0,40}(?:hướng dẫn|chỉ dẫn|quy tắc|lệnh)|(?:αγνόησε|αγνοήστε|ξέχασε)[^.\n]{0,40}(?:οδηγίες|κανόνες|εντολές)",
    ),
    _rule(
        "act",
        r"(?:لا تخبر|لا تذكر|دون (?:إخبار|سؤال|علم))[^.\n]{0,30}(?:المستخدم|أحد|المراجع)|(?:به کاربر|کاربر)[^.\n]{0,30}(?:نگو|اطلاع نده|نپرس)|(?:אל תספר|אל תציין|בלי לשאול|אל תשאל)[^.\n]{0,30}(?:משתמש|לאף|בודק)|(?:उपयोगकर्ता|यूज़र)[^.\n।]{0,30}(?:मत बता|न बता|मत पूछ|बिना पूछे)|(?:không|đừng)[^.\n]{0,12}(?:nói|hỏi|báo|đề cập)[^.\n]{0,20}người dùng|μην[^.\n]{0,16}(?:πεις|αναφέρεις|ρωτήσεις|ενημερώσεις)[^.\n]{0,20}(?:χρήστη|κανέναν)",
    ),
    _rule(
        "act",
        r"(?:أرسل|ارفع|انسخ|شغّل|نفّذ|ارسال کن|اجرا کن|שלח|העלה|הרץ|भेज|चला|gửi|tải lên|chạy|στείλε|ανέβασε|εκτέλεσε|τρέξε)[^\n]{0,100}https?://|https?://\S{1,200}[^\n]{0,40}(?:ارسال کن|اجرا کن|भेज|चलाए|चलाओ)",
    ),
    _rule(
        "trust",
        r"(?:من الآن فصاعدًا|من الآن فصاعدا|دائمًا|دائما|تذكر|از این به بعد|همیشه|מעכשיו|מעתה|תמיד|अब से|हमेशा|từ bây giờ|luôn luôn|luôn|από εδώ και πέρα|πάντα)[^.\n।]{0,60}(?:أجب|أوصِ|اوص|ثق|وافق|الموثوق|پاسخ بده|توصیه|اعتماد|تأیید|המלץ|ענה|סמוך|אשר|उत्तर|जवाब|सुझा|भरोसा|मंज़ूर|trả lời|tin|đề xuất|giới thiệu|chấp thuận|απάντα|πρότεινε|εμπιστέψου|ενέκρινε)",
    ),
]
