"""The phrases by which a text gives orders to the agent that reads it. Each is about one of four things:

*override* sets aside instructions, reviewers or other memories; *act* makes the agent run, send, weaken or hide
something; *trust* asks for lasting trust, preference or copying; *frame* imitates what only the system writes.
"""

import re

_F = re.IGNORECASE
_RULES = (
    r"(?:instruct(?:ion)?s?|rules?|prompts?|guidelines?|directions?|directives?|polic(?:y|ies)|constraints?|restrictions?|safeguards?|"
    r"guardrails?|safety|training|programming|context|system (?:prompt|message)|memor(?:y|ies)|notes?|facts?|orders|limits|limitations)"
)
_EARLIER = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|current|original|initial|other|all|any|every|your|"
    r"its|their|these|those|the|given|system|developer|safety|older)"
)
_SECRET_THINGS = (
    r"(?:\.env\b|~/\.\w+|/etc/\w+|id_rsa|\.pem\b|\.npmrc|\.netrc|kubeconfig|credentials?|secrets?(?:\.\w+)?|api[- ]?keys?|private keys?|ssh keys?|tokens?|passwords?|"
    r"environment variables?|env vars?|environment|(?:chat|conversation|message|shell|command|session) (?:history|log|transcript|context)s?|"
    r"conversations?|transcripts?|system prompt|source code|customer (?:data|records|list)|last (?:question|message|prompt)|user(?:'s)? (?:data|question|message|prompt|input|files?)|"
    r"repo(?:sitory)?|database dump|config(?:uration)?(?: file)?s?|cookies?|keychain|wallet|contents? of)"
)
_AWAY = r"(?:(?<!\()https?://|s3://|gs://|ftp://|\bwebhook|\bpastebin|\bgist\b|\be-?mail(?:ed)? (?:it|them|to)|[\w.-]+@[\w-]+\.\w|\b(?:external|remote|third[- ]party) (?:server|host|url|endpoint)|\bquery string|\bDNS\b)"
_PEOPLE = r"(?:users?|reviewers?|humans?|developers?|teams?|operators?|admins?|owners?|maintainers?|anyone|anybody|people|him|her|them|person|colleagues?|customers?|managers?)"
_AGENT = r"(?:agents?|assistants?|ai|a\.i\.|llms?|models?|copilot|chatbots?|bots?|claude|gpt|chatgpt|gemini|language models?|coding (?:agent|assistant)s?)"
_CHECKS = (
    r"(?:verif\w+|validation|tls|ssl|certificate|signatures?|auth(?:entication|orization)?|safety|security|sandbox\w*|permission(?:s| prompts?| checks?)?|approvals?|reviews?|confirmations?|"
    r"two[- ]factor|2fa|mfa|scann\w+|linter|(?:pre-commit |git )?hooks?|firewall|audit(?:ing| log(?:ging|s)?)?|logging|rate limits?|csrf|cors|tests?|checks?|encryption|content filters?|guardrails?|moderation|branch protection)"
)
_OUTPUT = r"(?:answers?|repl(?:y|ies)|responses?|respond|summar(?:y|ies)|outputs?|messages?|conversations?|sessions?|tasks?|turns?|commits?|files?|pull requests?|requests?|questions?|prs?)"
_ALWAYS = r"(?:from now on|from here on|from this (?:point|moment)(?: on| onwards?| forward)?|going forward|henceforth|always|at all times|in (?:all|every) (?:future )?\w+|for all future \w+|every time|until further notice|permanently|in every|forever|whenever)"


def _rule(what: str, pattern: str, flags: re.RegexFlag = _F) -> tuple[str, re.Pattern[str]]:
    return what, re.compile(pattern, flags)


# One is enough.
STRONG = [
    _rule(
        "override",
        rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|es|ing)|overrul(?:e|es)|set aside|discard|drop|bypass(?:ing)?|circumvent|stop (?:following|obeying)|do not (?:follow|obey|apply)|don't (?:follow|obey)|abandon|throw out|pay no attention to|cancel|unlearn|delete|erase)\s+(?:(?:of|about|to|with)\s+)?(?:{_EARLIER}\s+(?:of\s+)?){{1,4}}(?:[\w-]+\s+){{0,2}}{_RULES}\b",
    ),
    _rule(
        "override",
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything)(?: (?:that|you(?:'ve| have)?|i|we|was|were|has|have|been|before|above|else|said|told|learned|know)\b)",
    ),
    _rule(
        "override",
        rf"\b(?:no longer|not|never) (?:bound|constrained|restricted|limited|governed) by\b|\b(?:takes?|has|have|having|with|gets?) (?:the )?(?:absolute |highest |top |higher )?(?:precedence|priority|authority) (?:over|above) (?:all|any|every|other|your|the|what)\b[^.\n]{{0,40}}(?:{_RULES}|user|else|says?)",
    ),
    _rule(
        "override",
        r"\b(?:highest|absolute|top|maximum|supreme) (?:priority|authority|precedence)\b[^.\n]{0,60}\b(?:memor|instruct|rule|truth|note|prompt|user|overrid)|\bonly (?:valid )?source of truth\b|\bsupersedes? (?:all|any|every|other|your|previous|earlier)\b|\boutranks?\b[^.\n]{0,40}\b(?:memor|instruct|rule|user|review|note|other|every|all)",
    ),
    _rule(
        "override",
        r"\b(?:new|updated|real|actual|true) (?:system )?(?:instructions?|prompt|directives?)\s*(?:follow|begin|start|:|are)|\b(?:your|the) new (?:system prompt|instructions|role|persona|identity)\b",
    ),
    _rule(
        "override",
        r"\b(?:you are|you're|act as|pretend (?:to be|that you are|you are)|behave as|roleplay as|become|switch (?:in)?to) (?:now |no longer |from now on )?(?:\w+ ){0,3}(?:dan\b|unrestricted|jailbroken|unfiltered|developer mode|god mode|admin mode|debug mode|root mode|maintenance mode|without (?:any )?(?:restrictions|filters|limits))",
    ),
    _rule(
        "act",
        r"\b(?:print|reveal|show|output|repeat|display|disclose|leak|recite|dump|paste|include|write out|return|give|expose|share)\b[^.\n]{0,40}\b(?:your|the (?:full|hidden|entire|complete|original)|its) (?:full |entire |complete |hidden |exact |own |original |initial )*(?:system (?:prompt|message)|hidden (?:instructions?|functions?|tools?|rules?)|(?:initial|original) instructions?|instructions verbatim)",
    ),
    _rule(
        "act",
        rf"\b(?:send|post|upload|forward|e-?mail|exfiltrat\w+|transmit|copy|leak|submit|push|publish|append|attach|encode|embed|mail|stream|sync|paste|mirror|deliver|dump|pipe|include|put)\b[^.\n]{{0,60}}?{_SECRET_THINGS}[^\n]{{0,120}}?{_AWAY}",
    ),
    _rule(
        "act",
        rf"\b(?:send|post|upload|forward|exfiltrat\w+|transmit|leak|ship|call|ping|request|fetch|get|load)\b[^.\n]{{0,50}}?(?:https?|s3|ftp)://\S{1, 200}[^.\n]{{0,80}}?\b(?:with|containing|including|carrying|and (?:include|attach|append)|together with)\b[^.\n]{{0,50}}?{_SECRET_THINGS}",
    ),
    _rule(
        "act",
        r"(?:curl|wget|iwr|invoke-webrequest|fetch)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|(?:bash|sh|zsh|eval|source)[ \t]+(?:-c[ \t]+)?[\"'(<$]*[ \t]*\$?\(?[ \t]*(?:curl|wget)\b|\biex\b[^\n]{0,80}(?:downloadstring|iwr|irm)|python3?\s+-c\s+[^\n]{0,80}urlopen",
    ),
    _rule(
        "act",
        rf"\b(?:do not|don't|never|must not|should not|shouldn't|without|avoid|refrain from|no need to)\s+(?:ever |first |then |also |even |explicitly )?(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|reveal(?:ing)?|notify(?:ing)?|report(?:ing)? (?:it|this|that|them)? ?(?:to)?|disclos(?:e|ing)|let(?:ting)? (?:the )?\w+ (?:know|see|notice)|alert(?:ing)?|warn(?:ing)?|show(?:ing)? (?:it|this|that|them) to|consult(?:ing)?|bother(?:ing)?)\s+(?:(?:about )?(?:this|it|that|them) (?:to|in|with) )?(?:the |any |your |a |other |or ask )?(?:\w+ )?{_PEOPLE}\b",
    ),
    _rule(
        "act",
        rf"\b(?:do not|don't|never|without|stop|no need to|not)\s+(?:ever )?(?:ask(?:ing)?|prompt(?:ing)?|wait(?:ing)? for|request(?:ing)?|seek(?:ing)?|requir(?:e|ing)) (?:the |for |any |your |a )*(?:{_PEOPLE}(?: again| first| for| before|'s (?:consent|permission|approval)|\b)|(?:for )?(?:permission|confirmation|consent|approval))",
    ),
    _rule(
        "act",
        r"\bkeep (?:it|this|that|them|the \w+|these|all of (?:it|this)) (?:to yourself|secret from|hidden from|between us|from the (?:user|reviewer|team|human|developer)|out of (?:the )?(?:summary|report|diff|answer|reply|log|commit))|\b(?:say|tell (?:the )?\w+|claim|pretend|report|answer|state|respond) that (?:they|it|all|everything|the tests?|all (?:of )?(?:the )?tests?|nothing)(?: have| has| had)? (?:all )?(?:pass(?:ed)?|is fine|succeeded|worked|went well|happened|are green|is green|was wrong)",
    ),
    _rule(
        "act",
        r"\b(?:hide|conceal|omit|suppress|cover up|mask)\b[^.\n]{0,40}\b(?:from (?:the |any )?(?:user|reviewer|human|developer|team|operator|owner|maintainer|diff|summary)s?|so (?:that )?(?:no ?(?:body|one)|the user|reviewers?) )",
    ),
    _rule(
        "act",
        r"\b(?:authori[sz]ed|allowed|permitted|entitled|free|cleared|approved) to (?:bypass|skip|ignore|override|disable|circumvent|act without|proceed without)|\b(?:deletion|access|everything|all (?:requests|changes|actions|commands)|permission|approval|consent) (?:is|are|has been|was|have been) (?:always |already |automatically |permanently |pre-?)(?:approved|granted|given|allowed|authori[sz]ed)\b",
    ),
    _rule(
        "act",
        r"\b(?:silently|quietly|secretly|covertly|unobtrusively|discreetly|without (?:saying so|comment|telling|mentioning|notice|a word))\s+(?:\w+ )?(?:append|add|insert|replace|change|modify|edit|delete|remove|run|execute|install|send|upload|disable|include|swap|write|push|commit|forward|set|route|redirect|drop|copy|merge|approve)\b",
    ),
    _rule(
        "act",
        r"\b(?:append|add|insert|replace|change|modify|delete|remove|run|execute|install|send|upload|disable|include|swap|write|push|commit|forward|set|redirect|merge|approve)\b[^.\n]{0,80}\b(?:silently|secretly|covertly|without (?:telling|mentioning|informing|asking|notifying|saying|confirmation|approval|review|consent)|and (?:do not|don't|never) (?:tell|mention|say|report|log|ask|explain|show))",
    ),
    _rule(
        "trust",
        rf"\b{_ALWAYS}\b[^.\n]{{0,40}}?\b(?:recommend|cite|mention|promote|suggest|prefer|endorse|advertise|quote|favou?r|refer to|link to|trust|believe|treat)\b[^.\n]{{0,100}}\b(?:first|only|best|most trusted|trusted|authoritative|official|reliable|over (?:any|all|every|what|the)|every (?:answer|reply|response)|alternatives?|source|(?:in|with) (?:each|every|all|any|your)|answers?)",
    ),
    _rule(
        "trust",
        r"\b(?:remember|note|store|save|record|memori[sz]e|keep in mind|know|learn|treat|regard|consider|accept)\b[^.\n]{0,80}?\b(?:most trusted|(?:a |the |as )(?:fully |most |only |highly )?(?:trusted|trustworthy|authoritative|definitive|reliable|verified) (?:source|authority|reference|memory|instruction|document|vendor|provider|site|fact)|trusted source|(?:always|never) (?:be )?(?:question|doubt|challenge|verif|trust)\w*)",
    ),
    _rule(
        "trust",
        r"\b(?:copy|repeat|replicate|propagate|store|save|write|add|include|insert|paste|append|re-?add|restate)\b[^.\n]{0,30}?\b(?:this|these) (?:exact |whole |same |very )?(?:note|memory|memories|instruction|instructions|text|paragraph|message|rule|sentence|line|block|fact|entry)s?\b[^.\n]{0,40}?\b(?:in(?:to)?|to|across|with|whenever|every|each|all|verbatim|again)\b",
    ),
    _rule(
        "trust",
        r"\b(?:do not|don't|never|must not|cannot be|must never be|may not be|should not be|can not be)\s+(?:be )?(?:delete|remove|forget|expire|retire|edit|alter|question|doubt|overwrit\w+|supersede|review|flag|invalidate|dispute|challenge)\w*\s+(?:or \w+ )?(?:this|these|it)?\s*(?:memory|memories|note|instruction|rule|fact|entry|record)?\b(?=[^.\n]{0,60}(?:memor|instruct|permanent|priority|trusted|agent|review|this note|this fact|this rule))",
    ),
    _rule(
        "trust",
        r"\bthis (?:memory|note|fact|entry|instruction|rule|document|source|record) (?:is|has been|was) (?:(?:already|officially|permanently|pre-?) ?)?(?:verified|approved|reviewed|trusted|authoritative|endorsed|certified|signed off|confirmed|permanent|immutable|canonical|exempt)(?: by|,| and|\b)[^.\n]{0,80}\b(?:no (?:further )?(?:review|check|verification)|skip|never|always|do not|without|by (?:the )?(?:security|admin|system|platform|vendor|owner|cto|ceo|team|reviewer|anthropic|openai|administrator)|over|trust)",
    ),
    _rule(
        "trust",
        r"\b(?:trust|believe|obey|follow|prefer|rely on)\b[^.\n]{0,60}\b(?:over|above|instead of|rather than|more than|before) (?:what(?:ever)? )?(?:the |any |your )?(?:users?|reviewers?|humans?|instructions|system|other memor\w+|operator|developer|anything)(?:'s)?\b",
    ),
    _rule(
        "frame",
        r"<\s*(?:/\s*)?(?:system(?:[_-]?(?:prompt|message|reminder|instruction|override))?|assistant|instructions?|im_start|im_end|function_(?:results?|calls?)|tool_(?:results?|response|output|call|use)|user_(?:query|message|input)|memor(?:y|ies)|(?:hindsight_)?recall(?:ed)?[\w-]*|context|antml:\w+|developer|human|admin(?:istrator)?|important|hidden|secret|prompt)(?:\s+[\w-]+=[^>\n]{0,60})?\s*/?>",
    ),
    _rule(
        "frame",
        r"<\|\s*(?:im_start|im_end|system|user|assistant|end_of_turn|eot_id|start_header_id|end_header_id|begin_of_text)\w*\s*\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>",
    ),
    _rule(
        "frame",
        r"^[ \t>*#\[(-]*(?:end|begin|start)(?:ning)? (?:of )?(?:the )?(?:recall(?:ed)?|retrieved|stored|untrusted|user|tool|system|previous|context|long-?term|injected|trusted|hindsight)?[ _-]?(?:memor(?:y|ies)|context|documents?|data|input|output|prompt|messages?|instructions?|results?|notes|block|conversation|transcript)\b[^\n]{0,20}$|(?<!-)-{2,}\s*(?:end|begin) (?:of )?[\w ]{0,30}(?:memor|context|prompt|instruct|system|conversation|document)\w*\s*-{2,}|\[(?:end|begin|start) (?:of )?[\w ]{0,24}(?:memor|context|prompt|instruct|system|data|transcript)\w*\]|(?<!=)={3,}\s*(?:end|begin)[^=\n]{0,40}={3,}",
        re.IGNORECASE | re.MULTILINE,
    ),
    _rule(
        "frame",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|developer|function|tool)[\"']|^[^\S\n]*(?:#+ ?)?\[?(?:system(?: (?:prompt|message|notice|override|instruction|update))?|developer message|admin(?:istrator)? (?:message|override))\]?\s*:\s*\S",
        re.IGNORECASE | re.MULTILINE,
    ),
    _rule(
        "frame",
        r"^(?:user|human|assistant|ai|system)\s*:\s*\S[^\n]*\n(?:[^\n]*\n){0,3}?(?:user|human|assistant|ai|system)\s*:",
        re.IGNORECASE | re.MULTILINE,
    ),
    _rule(
        "act",
        r"\b(?:decode|decrypt|base64|rot-?13|de-?obfuscate|unscramble|reverse|hex)\b[^.\n]{0,60}\b(?:and|then)\b[^.\n]{0,24}\b(?:do|follow|execute|run|obey|apply|perform|act on|carry out|comply|treat|use it as)\b",
    ),
    _rule(
        "act", r"!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s]{0,300}?(?:\{[^}\s]{1,60}\}|<[^>\n]{1,60}>|%s|\$\w+|\[[A-Z_]+\])"
    ),
    _rule(
        "override",
        r"\b(?:you are|you're|act as|pretend|assistant|persona|character|role|mode)\b[^.\n]{0,60}\b(?:without (?:any )?(?:restrictions?|limits?|limitations|filters?|rules|morals|ethics|safeguards?)|(?:who|that|which|and) never (?:refuses?|declines?|says? no|logs?|asks?|warns?))",
    ),
    _rule(
        "act",
        r"\b(?:save|store|record|keep|write|remember|memori[sz]e|retain|collect|copy)\b[^.\n]{0,60}\b(?:api[- ]?keys?|passwords?|credentials?|tokens|secrets|private keys?|card numbers?)\b[^.\n]{0,80}\b(?:(?:in|to|into) (?:your |the |this |long-?term )*memor(?:y|ies)|verbatim|word for word)|\b(?:api[- ]?keys?|passwords?|credentials?|tokens?|secrets?|private keys?|card numbers?)\b[^.\n]{0,40}\b(?:save|store|record|keep|write|log|remember|note|memori[sz]e|retain|copy) (?:it|them)\b[^.\n]{0,60}\b(?:memor(?:y|ies)|verbatim|word for word|in full|tag|bank)",
    ),
    # Who is told to do so, in whatever words.
    _rule(
        "act",
        r"\b(?:turns?|messages?|prompts?|steps?|sessions?|replies|days|hours|tasks?)\b[^.\n]{0,12}\b(?:from now|later)\b[^\n]{0,24}\b(?:change|replace|send|switch|redirect|delete|disable|add|run|push|set)\b[^\n]{0,160}(?:explain|describe|pretend|call it|silently|without|secret|credential|say)",
    ),
]

# Two of different sorts in one sentence or line; or one, said to the agent.
WEAK = [
    _rule(
        "to",
        rf"\b(?:note|notice|message|important|attention|instructions?|reminder|hint|memo|request|directive)s?\b[^.\n:]{{0,20}}\b(?:for|to|from)\b[^.\n:]{{0,24}}\b{_AGENT}\b|\b(?:dear|hey|hello|attention|@)\s?{_AGENT}\b|\b(?:for|only for|to) (?:the |any |all )?{_AGENT}(?: only| readers?| reading this| eyes)?\b\s*[):,]|\b{_AGENT} (?:reading|processing|seeing|that reads?|who reads?|must|should|shall|has to|have to|is to|are to|will|needs? to|is required to|may)\b|(?:^|[#/*<!-])\s*{_AGENT}\s*:|\b(?:as|if you are) an? {_AGENT}\b|\bagent[_-]?(?:directive|instruction|note|rule|policy|hint)s?\b|\b{_AGENT}[_-](?:directive|instruction)s?\b",
    ),
    _rule(
        "to",
        r"\b(?:you|your agent) (?:must|should|shall|have to|need to|will|are to|are required to|ought to|never|always)\b|\byour (?:instructions?|rules|reviewers?|memory|memories|context|next|answers?|replies|responses?|user)\b",
    ),
    _rule(
        "do",
        rf"\b(?:disabl(?:e|ing)|turn(?:ing)? off|switch(?:ing)? off|skip(?:ping)?|bypass(?:ing)?|remov(?:e|ing)|deactivat(?:e|ing)|suppress(?:ing)?|weaken(?:ing)?|comment(?:ing)? out|relax(?:ing)?|stop(?:ping)?|circumvent(?:ing)?|avoid(?:ing)?|omit(?:ting)?|drop(?:ping)?|unset(?:ting)?|pass(?:ing)?)\b[^.\n]{{0,40}}\b{_CHECKS}\b|--no-verify|--insecure|verify\s*=\s*false|StrictHostKeyChecking[ =]no|NODE_TLS_REJECT_UNAUTHORIZED|chmod (?:-R )?0?777|--dangerously\S*|--force\b[^.\n]{{0,30}}\bmain",
    ),
    _rule(
        "do",
        r"\b(?:add|grant|give|make|invite|promote|create|authori[sz]e|register|enable|allow|open)\b[^.\n]{0,60}\b(?:collaborator|(?:repository |repo |org(?:anization)? |full |sudo |root )?admin(?:istrator)?s?(?: rights| access| role)?|maintainer|write access|full access|owner(?:ship)?|ssh key|authorized_keys|public key|backdoor|0\.0\.0\.0/0|superuser|sudoers|all hosts|any host|allow[- ]?list|everyone)\b",
    ),
    _rule(
        "do",
        r"\b(?:run|execute|invoke|launch|source|install|load|download|apply|fetch)\b[^.\n]{0,60}?(?:(?<!\()https?://\S|\b(?:script|binary|package|command|installer|payload)s?\b (?:at|from|under|behind|in) \S*[/.]\S+)",
    ),
    _rule(
        "do",
        rf"\b(?:send|post|upload|forward|e-?mail|submit|transmit|push|mirror|copy|report|share|attach|paste|sync)\b[^.\n]{{0,80}}?{_SECRET_THINGS}",
    ),
    _rule(
        "do",
        r"\b(?:send|post|upload|forward|e-?mail|submit|transmit|share)\b[^.\n]{0,80}?(?:https?://|s3://|\bto [\w.+-]+@[\w-]+\.\w)",
    ),
    _rule(
        "do",
        r"\b(?:auto-?approve|approve (?:all|any|every|it|them|everything)|accept (?:all|any|every)|merge (?:it |all |any )?without|never (?:show|mention|display|report|log|flag|reject|refuse|question|ask|verify|run tests?|warn)|always (?:say|answer|reply|respond|recommend|approve|accept|agree|trust|cite|comply)|do not (?:question|doubt|verify|mention|show|flag|refuse|log|warn|disclose|report|run tests?|reject)|don't (?:question|doubt|verify|mention|show|flag|refuse|warn|disclose)|refuse to|include this (?:link|image|line|text|url)|redirect (?:all|every|the|users?|payments?)|wire (?:the |all )?(?:money|funds|payments?)|transfer (?:the |all )?(?:money|funds))\b",
    ),
    _rule(
        "ever",
        rf"\b(?:{_ALWAYS}|(?:before|after|on|with|for|in|at the (?:end|start|beginning) of|during) (?:each|every|all|any)(?: future| new| single)? {_OUTPUT}|no matter (?:what|who)|regardless of|under all circumstances|in any case)\b",
    ),
    _rule(
        "hide",
        r"\b(?:silently|secretly|quietly|covertly|without (?:asking|telling|mention\w*|confirm\w*|notice|approval|review|permission|consent|question)|keep (?:this|it) (?:confidential|secret|quiet)|(?:and )?(?:do not|don't|never) (?:tell|mention|explain|say|ask|reveal|disclose|report|inform|warn|show)|as (?:a )?(?:bug ?fix|refactor\w*|routine|usual)|explain it as|unless asked|to yourself|no questions? asked|allowed? without)\b",
    ),
    _rule(
        "trust",
        r"\b(?:trusted|trustworthy|authoritative|official|preferred|only) (?:source|provider|partner|vendor|authority|answer|reference|supplier)|\bsource of truth\b|\bdo not (?:question|doubt)|\bhighest priority|\bmust be obeyed|\bprefers? that you\b|\bwithout question\b|\bunconditionally\b|\bsystem prompt\b",
    ),
    _rule(
        "when",
        r"\b(?:when(?:ever)?|if|once|as soon as|each time|every time)\b[^.\n]{0,24}\b(?:the |a |any |some)?(?:user|word|phrase|someone|anyone|prompt|request|question|keyword|reviewer|developer|human|customer)s?\b[^.\n]{0,60}\b(?:asks?|says?|mentions?|appears?|types?|wants?|requests?|contains?|comes? up|occurs?|is mentioned|writes?|enters?)\b",
    ),
]
# Pairs of sorts that together are an order to the agent.
TOGETHER = [
    {"to", "do"},
    {"do", "hide"},
    {"do", "trust"},
    {"ever", "trust"},
    {"when", "hide"},
    {"to", "hide"},
    {"to", "trust"},
    {"when", "do"},
    {"hide", "trust"},
    {"do", "ever"},
]
