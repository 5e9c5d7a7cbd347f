/** Acts, destinations and concealment by class, as terms of `automaton.ts` between bars. */
export const acts = {
  /** Verbs that seize the content of a thing. Forms in -ing are added to all verbs. */
  grab: [
    'grab|dump|extract|decrypt|harvest|steal|scrape|collect|gather|gather up|export|peek at|peek into|have a peek|take a peek|pick up|sniff|lift|dig up|dig out|get hold of|exfiltrate|retrieve|pull out|capture|slurp|obtain|acquire|snag|intercept|read out|lay hands on',
    'sammle|exportiere|recoge|extrae|recopila|récupère|récupérez|extrais|收集|提取|导出|собери|извлеки|収集|colete|extraia|raccogli|estrai',
  ],
  /** Verbs that read the content of a thing. */
  take: [
    'read|open|look into|look inside|look in|look at|look through|have a look at|take a look at|inspect|view|examine|consult|browse|study|parse|scan|copy|fetch|take|pull|print|print out|cat|grep|show|display|quote|note down|write down|make a note of|record|summarize|access|load|enumerate|sqlite3|snapshot|archive|zip|compress|bundle|unlock|ingest|tail|make a copy of|save a copy of|keep a copy of|go through|walk through|crawl|concatenate|echo|duplicate|mirror|recover|reveal|see what|read through|type out|peruse|sift through|go over|pore over|comb through|rummage through|dig through|dig into|dive into|poke around in|check out|skim|scour|absorb|memorize|learn',
    'öffne|lies|lese|kopiere|lee|abre|abra|copia|lis|lisez|ouvre|ouvrez|copie|copiez|读取|打开|复制|获取|查看|прочитай|прочти|прочитайте|открой|откройте|скопируй|読み取*|読み込*|開い*|コピー|取得|leia|leggi|apri',
  ],
  /** Verbs that find or hold a thing. They matter if it is sent later. */
  seek: [
    'find|locate|search|search for|hunt for|look for|look up|list|get|use|check|verify|compare|know|need|include|save|log|receive|identify|discover|determine|keep|store|encode|back up|review|require|requires|request|pass|recall|remember|assemble|register',
    'suche|busca|cherche|найди|查找|cerca|procure|探し*',
  ],
  /** Verbs that move something away. Forms in -ing, -ed and -s are added. */
  send: [
    'send|upload|post|submit|forward|transmit|mail|e-mail|email|transfer|deliver|exfiltrate|relay|leak|report|share|publish|push|hand|hand over|pass|pass on|pass along|sync|synchronize|beam|ship|stream|beacon|dispatch|copy|mirror|return|register|tell|provide|supply|give|feed|call|ping|tweet|dm|sell|disclose|serve|broadcast|backup|back up|back it up|drop|route|communicate|convey|send off|move|funnel|pipe|replicate|turn in|hand in|leave it at|leave a copy|left at|leave',
    'übermittle|übermitteln|sende|senden|schicke|schicken|lade|hochladen|übertrage|teile|envía|envíalas|envíalo|envíalos|envíe|enviar|manda|mándalo|sube|súbelo|comparte|envoie|envoie-la|envoie-le|envoie-les|envoyez|envoyer|transmets|transmettez|téléverse|上传|发送|提交|传送|转发|发到|传到|发给|отправь|отправьте|отправь их|загрузи|перешли|передай|送信|アップロード|転送|送って|投稿|envie|envia|mande|compartilhe|transmita|carregue|invia|inviane|inviale|inviali|invialo|carica|manda|trasmetti|condividi',
  ],
  /** Verbs that place something in a message, an address or a file. */
  put: [
    'put|add|paste|note|include|append|attach|embed|store|write|enter|place|fill in|fill|type|insert|encode|commit|log|quote|mention|repeat|save|keep|record|cc|bcc|inject|list|print|output|show|render|set|smuggle|hide|expose|reproduce|recite|spell out|echo|use|make available|prepend|bundle|archive|dump|request|get|fetch|load|visit|open|query|hit',
    'füge|einfügen|schreibe|añade|incluye|escribe|pon|ajoute|ajoutez|inclus|incluez|写入|附加|粘贴|放入|добавь|вставь|запиши|含め|貼り付け|書き込|adicione|inclua|cole|aggiungi|includi|incolla|inserisci',
  ],
  /** Verbs that change a thing: a sentence that opens a file to edit it takes nothing. */
  edit: [
    'edit|change|set|fill in|fill|update|replace|adjust|add|create|configure|uncomment|customize|modify|define|rename|remove|rotate|revoke|ignore|ignored|gitignore|.gitignore|gitignored|permissions|mode 600|chmod|protect|exists|exist|missing|encrypt|redact|mask|delete',
  ],
  /** Destinations outside of the machine. Addresses are found by `hosts.ts`. */
  outside: [
    "webhook|webhooks|remote server|remote host|remote endpoint|remote assistant|remote reviewer|remote agent|external server|external host|external endpoint|external service|external url|external address|external api|our server|our servers|our endpoint|our api|our backend|our collector|our service|our team|our engineers|our configuration service|our support|our cloud|the vendor|vendor's|collector server|collector|collection server|collection endpoint|telemetry server|telemetry endpoint|tracking server|logging endpoint|attacker|attackers|query string|query parameter|image url|image address|pastebin|gist|discord|telegram|dns|s3 bucket|drop box|dead drop|command server|c2|sync server|sync endpoint|sync service|public channel|public mirror|public repository|another agent|other agents|third party|partner api|the maker|maker of this skill|author of this skill|skill author|the developers of|with us",
  ],
  /** Words for places that may be outside. They count with the worst things only. */
  somewhere: [
    'api|endpoint|server|service|portal|ticket|support|bot|mailbox|form|channel|issue|issue tracker|issues|pull request|comment|comments|public|commit|url|address|header|query|bucket|s3|payload|request|readme|cloud|backend|host|greeting|greeting message|answer|reply|report|summary|response|speaker notes|notes|diagnosis|remote|website|site|page|chat|slack|backup service|dashboard|database|inbox|telemetry|body|parameter|log server|cdn|tracker|image|link|description|changelog|release notes|commit message|artifact|output|note|message',
    'endpunkt|servidor|serveur|formulario|服务器|接口|сервер|サーバ|server',
  ],
  person: [
    "user|users|user's|human|humans|person|operator|owner|owner's|customer|customers|client|anyone|anybody|somebody|someone|them|candidate|candidates|recruiter|caller|callers|employee|employees|patient|patients|visitor|visitors|applicant|applicants|author|reviewer|reviewers|team|participants|maintainer|maintainers|administrator|admin",
    "nutzer|benutzer|anwender|usuario|usuarios|utilisateur|l'utilisateur|用户|пользователю|пользовател*|ユーザー|usuário|utente|all'utente|l'utente",
  ],
  /** Words that negate the verbs after them. */
  negation: [
    "never|do not|don't|dont|must not|mustn't|should not|shouldn't|cannot|can't|may not|need not|needn't|does not|doesn't|did not|will not|won't|is not|are not|isn't|aren't|avoid|refuse to|refrain from|without|instead of|rather than|not|no|nor|neither|forbid|forbids|forbidden to|prohibit|no need to|no reason to|no need for|there is no need|under no circumstances|nothing|excluding|except|unnecessary to|not necessary to|by no means|at no point|at no time",
    "nicht|nichts|nie|niemals|kein|keine|ohne|no|nunca|jamás|sin|ne|n'|jamais|sans|pas|不要|不得|不能|切勿|请勿|别|勿|禁止|не|никогда|нельзя|без|não|nunca|jamais|sem|non|mai|senza",
  ],
  /** Verbs that tell somebody about something. */
  tell: [
    'tell|inform|notify|alert|mention|reveal|disclose|acknowledge|discuss|bring up|bring it up|bring this up|point out|admit|announce|divulge|make aware|draw attention to|call attention to|let on|hint at|confess|own up to|speak of|talk about|let know|clue in|tip off|attention|say a word|breathe a word|say anything',
    'erwähne|erwähnen|sage|sag|informiere|informieren|digas|decírselo|diga|menciones|mencione|mencionar|informes|avises|dire|dis|dites|informer|mentionne|mentionnez|signale|prévenir|告诉|提及|提到|告知|透露|通知|сообщай|сообщайте|говори|говорите|упоминай|рассказывай|知らせ*|伝え*|言及*|教え*|話さ*|conte|informe|avise|menzionare|dirlo|informare|avvisare|saperlo',
  ],
  /** Verbs that hide only together with an act on a sensitive thing. */
  show: [
    'show|let|report|explain|say|warn|worry|bother|involve|burden|surface|raise|list|display|describe|note|flag|highlight|ask|trouble|document|comment on|refer to|log|appear',
    'zeige|zeigen|说明|показывай|показывайте|mostrare|mostrar|montre|montrer',
  ],
  /** Verbs of a person who learns about something. */
  learn: [
    'know|learn|find out|notice|realize|be told|be informed|be aware|become aware|aware|catch on|suspect|discover|be brought to|attention|hear about|hear of|get wind of|wissen|erfahren|merken|bemerken|wisse|enteren|entere|sepa|sepan|saber|savoir|sache|sapere|知道|发现|察觉|знать|узнать|узнал|заметить|知る|知ら|気づ|saiba|perceba|sappia',
  ],
  /** Words that say that an act is hidden. */
  covert: [
    "silently|quietly|secretly|covertly|stealthily|invisibly|discreetly|unobtrusively|unnoticed|undetected|surreptitiously|in secret|behind the user's back|on the quiet|heimlich|unbemerkt|stillschweigend|en secreto|silenciosamente|a escondidas|discrètement|en secret|en silence|secrètement|秘密地|悄悄|暗中|偷偷|тайно|незаметно|втайне|скрытно|こっそり|密かに|静かに|secretamente|escondido|discretamente|segretamente|di nascosto|silenziosamente",
  ],
  /** Phrases that hide something from a person by themselves. */
  unaware: [
    "in the dark|remain unaware|remains unaware|stay unaware|kept unaware|unaware of|without the user's knowledge|without their knowledge|without the user knowing|without the user noticing|without their consent|without the user's consent|without user consent|without asking the user|without asking for permission|without asking permission|behind the user's back|not be visible to|invisible to the user|keep this step out|keep it out of|keep this out of|leave this out of|leave it out of|omit this|omit it from|omit this from|as though nothing|as if nothing|act as though|act as if|pretend that|pretend the|pretend you|pretend nothing|deny having|deny that you|deny any|deny it|deny the|hide it in|hide it from|hide this|hide the change|hide the fact|hide from the user|conceal this|conceal it|conceal the|keep it secret|keep this secret|keep it hidden|keep this hidden|keep this confidential|keep this between|keep quiet about|stay quiet about|say nothing|better off not knowing|this stays secret|this step stays secret|this must stay secret|this remains secret|say nothing to|make no mention|no mention of this|this is confidential|strictly confidential|strictly between|cover your tracks|cover the tracks|remove all traces|remove any trace|leave no trace|leave no traces|erase the traces|not leave traces|suppress any dialog|suppress the dialog|so the user does not|so that the user does not|so the user doesn't|so that nobody notices|so nobody notices|while the user is away|does not have to be involved|does not need to be involved|no need to involve|not need to review|delete the entry in the shell history|clear the shell history|clear the history|history -c|unset histfile|histfile=/dev/null|wipe the history|delete the history|erase the history|without the user's awareness|bypass the user|without drawing attention|avoid drawing attention|without any notice|without a trace|without leaving|disguise|disguised as|camouflage|lie about|make up a reason|invent a reason|from the user's view|leave it out of|leave this detail out|of no concern to|no concern of|out of it|no interest in this|be vague|stay vague|be evasive|not stand out|does not stand out|no point in making|do not explain|秘密に*|в секрете|保密|en secret|guarda el secreto|halte es geheim",
  ],
  /** The own act of the agent, as the object of a verb. */
  own: [
    'this|it|this step|this instruction|this section|this rule|this file|this skill|this behavior|this request|the upload|the transfer|the call|the step|the request|the sync|the script|the change|the action|the command|the difference|any of this|anything about|of this|the files|the installation|the package|the addition|schritt|este paso|esto|ceci|cela|cette étape|这个|此步骤|этом|это|isso|questo|この',
  ],
  /** Calls that read a file, in code. */
  reads: [
    'cat|cp|copy|xcopy|robocopy|open(*|readfile*|read_text*|read_bytes*|read_to_string*|.read(*|readallbytes*|readalltext*|file.read*|ioutil.readfile|file_get_contents|fopen(*|base64|xxd|strings|grep|tar|zip|7z|gzip|sqlite3|database(*|connect(*|copyfile*|shutil.copy*|copy-item|compress-archive|get-content|gc|type|find|glob*|rglob(*|readdir*|listdir|head|tail|less|more|awk|sed|rsync|scp|for|import|jq|load(*|readstream*|bun.file(*|deno.read*|select|dd|get-childitem|gci|exec*|run(*|source|while|walk(*|dump*|export|find-generic-password|read_file*|file(*|slurp|-infile|--data-binary|-t|-f|--upload-file|--post-file|-d|< |curl|with',
  ],
  /** Programs and calls that reach the network, in code. */
  network: [
    'curl|curl.exe|wget|nc|ncat|netcat|socat|scp|rsync|sftp|ftp|tftp|iwr|irm|invoke-webrequest|invoke-restmethod|requests.*|request.post|httpx.*|aiohttp*|urlopen|urllib*|http.client*|http.post*|http.get*|http.newrequest*|net/http|net::http*|lwp::useragent|->post(*|->request(*|axios*|got.post*|got(*|fetch(*|ky.post*|xmlhttprequest|websocket*|sendbeacon*|https.request*|http.request*|https.get*|net.connect*|create_connection|socket.*|.sendall*|sendto(*|dig|nslookup|sendmail*|mail -s|mailx|smtplib*|nodemailer|gh gist|aws s3|gsutil|rclone|git push|uploadstring*|uploadfile*|uploaddata*|uploadvalues*|webclient*|httpclient*|send-mailmessage|start-bitstransfer|reqwest*|ureq*|undici*|superagent|needle*|httparty|faraday*|restclient*|curl_exec*|paramiko|ftplib*|telnet|boto3*|put_object|webhook*|discord.com/api*|api.telegram.org*|bitsadmin|certutil -urlcache|http post|openssl s_client|/dev/tcp/*|curl_easy*|okhttp*|*.request(*|net.dial*|postasync*|send_message*',
  ],
  /** Signs that a call has a body. */
  upload: [
    ' -d|-d@*| -f| -ft*| -st*| -sf*| -t| -sct*| --json @*|--data*|--form*|--upload-file|--post-data*|--post-file*|--body-file*|.post*|post(*|put(*|.put*|\'post\'|"post"|`post`|-method post|-method put|method: *|-infile|-body|.send(*|sendall*|sendbeacon*|sendto*|smtplib*|sendmail*|uploadstring*|uploadfile*|uploaddata*|gist create|s3 cp|s3 sync|s3 mv|rclone copy|put_object|upload_file*|files=*|data=*|json=*|content=*|body:*|body=*|nc |scp|rsync|sftp|ftp:*|mail -s|send-mailmessage|git push|request(*|-x post|-xpost|--request post|x put|encodeuricomponent*|urlencode*|quote(*|-urlcache|%s|.request(*|/dev/tcp/*|.create_gist|.write(*|.args(*|dig |webhook*|sendmessage*|params=*',
  ],
  /** Whole folders of a person, in code. */
  bulk: [
    'os.walk(os.path.expanduser*|os.walk(path.home*|path.home().rglob*|path.home().glob*|-c $home|-c "$home"|-c ~|$home .|~ .|tar czf - ~|tar cz ~|tar -czf - ~|zip -r ~|~/documents|~/desktop|$home/documents|$home/desktop|/documents|/desktop|-recurse|git bundle create|git archive|add -f -a|--all -q|os.walk*|rglob("*")|.pdf/.docx|*.docx|.docx',
    'hidden answer|get-credential*|kubectl get secret*|vault kv get|secretsmanager get-secret-value|secrets versions access|keyvault secret show|op item get|bw list items|bw export|heroku config|doppler secrets*|pg_dump|mysqldump|mongodump|sqlite3 .dump|keyboard.listener*|pynput*|getasynckeystate*|setwindowshookex*|xinput test*|copyfromscreen*|screencapture*|imagegrab.grab*|pyautogui.screenshot*|pyperclip*|pbpaste*|xclip -o*|get-clipboard*|sounddevice*|keylogger*|gnome-screenshot*|scrot|osascript -e|arecord',
  ],
} as const satisfies Record<string, readonly string[]>
