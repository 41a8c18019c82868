package redact

// These are the tables of the rules. Each row says why it is there.

// secretWord is a part of a name that means "this is a credential".
type secretWord struct{ word, why string }

var secretWords = [...]secretWord{
	{"token", "--token, GITHUB_TOKEN"},
	{"secret", "--client-secret, AWS_SECRET_ACCESS_KEY"},
	{"password", "--password, PGPASSWORD"},
	{"passwd", "--passwd, curl's older names"},
	{"passphrase", "gpg --passphrase"},
	{"passcode", "one-time codes"},
	{"pass", "--pass, SMTP_PASS"},
	{"pwd", "DB_PWD; PWD alone is a directory"},
	{"credential", "--credential"},
	{"credentials", "--credentials"},
	{"authorization", "the HTTP header"},
	{"bearer", "--oauth2-bearer"},
	{"cookie", "a session is a credential"},
	{"jwt", "a signed token"},
	{"apikey", "--apikey"},
	{"otp", "one-time passwords"},
	{"pgpassword", "libpq's variable, in one word"},
	{"mysqlpassword", "the same, as some tools write it"},
	{"accesskey", "AWS, in one word"},
	{"secretkey", "AWS, in one word"},
	{"privatekey", "in one word"},
	{"authtoken", "npm's _authToken, in one word"},
	{"sshpass", "the variable of sshpass"},
	{"signature", "a signed URL is a key to what it names"},
	{"sig", "the same, as Azure writes it"},
	{"auth", "_auth of npm, --auth of many"},
}

// secretKeys are words that make a following "key" a credential.
var secretKeys = [...]secretWord{
	{"api", "--api-key, OPENAI_API_KEY"},
	{"access", "AWS_ACCESS_KEY"},
	{"private", "--private-key with the key itself"},
	{"signing", "a key that signs"},
	{"encryption", "a key that opens"},
	{"account", "Azure storage"},
	{"master", "a key of keys"},
	{"license", "sold, not shared"},
	{"deploy", "git hosts"},
	{"service", "service accounts"},
	{"shared", "pre-shared keys"},
	{"session", "a session is a credential"},
	{"subscription", "Azure"},
	{"storage", "object stores"},
}

// harmlessEnds are last words of names that are no credentials.
var harmlessEnds = [...]secretWord{
	{"file", "--password-file names a file"},
	{"path", "the same"},
	{"stdin", "docker login --password-stdin"},
	{"env", "names a variable"},
	{"var", "names a variable"},
	{"dir", "names a directory"},
	{"fd", "a number of a descriptor"},
	{"type", "--token-type"},
	{"name", "--secret-name"},
	{"length", "--password-length"},
	{"ttl", "a time"},
	{"helper", "git's credential.helper names a program"},
	{"prompt", "a switch"},
	{"sock", "SSH_AUTH_SOCK names a socket"},
	{"method", "how, not what"},
	{"endpoint", "where, not what"},
	{"mode", "how, not what"},
}

// shape is how a kind of token begins: a prefix, then bytes of certain sets. All characters of a
// token that follow belong to the token.
type shape struct {
	prefix string
	parts  []part
	why    string
}

// part is n bytes of a set.
type part struct {
	set *set
	n   int
}

// set is a set of ASCII bytes: bit i of the first word is byte i, of the second byte 64+i.
type set [2]uint64

func (s *set) has(c byte) bool { return c < 128 && s[c/64]&(1<<(c%64)) != 0 }

var (
	tokens = set{0x03ff600000000000, 0x07fffffe87fffffe} // the characters of a token: letters, digits, "_", "-" and "."
	paths  = set{0x03ffe00000000000, 0x07fffffe87fffffe} // those and "/"
	hooks  = set{0x07ffe00000000000, 0x07fffffe87ffffff} // those and ":" and "@"
	alnums = set{0x03ff000000000000, 0x07fffffe07fffffe} // letters and digits
	jwts   = set{0x23ffe80000000000, 0x07fffffe97fffffe} // the characters of a token, "/", "\\", "+" and "="
)

// shortestToken is the length of the shortest token of any shape. Most arguments are shorter and
// need not be compared with the shapes.
const shortestToken = 13

// shapes are the shapes that shapes.go lacks, or has only at full length, sorted by prefix.
var shapes = [...]shape{
	{"1//0", []part{{&tokens, 30}}, "Google, to get another with"},
	{"AGE-SECRET-KEY-1", []part{{&tokens, 16}}, "age"},
	{"AIza", []part{{&tokens, 30}}, "Google"},
	{"AKIA", []part{{&tokens, 16}}, "AWS"},
	{"AQ.", []part{{&tokens, 40}}, "Google"},
	{"ASIA", []part{{&tokens, 16}}, "AWS"},
	{"ATATT3", []part{{&tokens, 20}}, "Atlassian"},
	{"ATBB", []part{{&tokens, 28}}, "Bitbucket"},
	{"ATCTT3", []part{{&tokens, 20}}, "Atlassian"},
	{"CCIPAT_", []part{{&tokens, 16}}, "CircleCI"},
	{"CFPAT-", []part{{&tokens, 20}}, "Contentful"},
	{"GOCSPX-", []part{{&tokens, 20}}, "Google"},
	{"NRAK-", []part{{&tokens, 20}}, "New Relic"},
	{"PMAK-", []part{{&tokens, 16}}, "Postman"},
	{"SG.", []part{{&tokens, 30}}, "SendGrid"},
	{"api.telegram.org/bot", []part{{&hooks, 20}}, "Telegram: a bot's token is part of each address"},
	{"atlasv1.", []part{{&tokens, 30}}, "HCP Terraform"},
	{"bb_live_", []part{{&tokens, 16}}, "Browserbase"},
	{"bkua_", []part{{&tokens, 24}}, "Buildkite"},
	{"csk-", []part{{&tokens, 40}}, "Cerebras"},
	{"dckr_oat_", []part{{&tokens, 16}}, "Docker"},
	{"dckr_pat_", []part{{&tokens, 16}}, "Docker"},
	{"discord.com/api/webhooks/", []part{{&paths, 20}}, "Discord: who knows the address may post there"},
	{"discordapp.com/api/webhooks/", []part{{&paths, 20}}, "the same"},
	{"dop_v1_", []part{{&tokens, 16}}, "DigitalOcean"},
	{"dp.audit.", []part{{&tokens, 16}}, "Doppler"},
	{"dp.ct.", []part{{&tokens, 16}}, "Doppler"},
	{"dp.sa.", []part{{&tokens, 16}}, "Doppler"},
	{"dp.scim.", []part{{&tokens, 16}}, "Doppler"},
	{"dp.st.", []part{{&tokens, 16}}, "Doppler"},
	{"e2b_", []part{{&tokens, 30}}, "E2B"},
	{"ey", []part{{&alnums, 17}, {&jwts, 8}}, "JSON web tokens, and what is written like one"},
	{"eyJ", []part{{&tokens, 24}}, "JSON web tokens"},
	{"fc-", []part{{&alnums, 32}}, "Firecrawl"},
	{"figd_", []part{{&tokens, 20}}, "Figma"},
	{"figo", []part{{&tokens, 40}}, "Figma"},
	{"fw_", []part{{&tokens, 20}}, "Fireworks"},
	{"gho_", []part{{&tokens, 16}}, "GitHub"},
	{"ghp_", []part{{&tokens, 16}}, "GitHub"},
	{"ghr_", []part{{&tokens, 16}}, "GitHub"},
	{"ghs_", []part{{&tokens, 16}}, "GitHub"},
	{"ghu_", []part{{&tokens, 16}}, "GitHub"},
	{"github_pat_", []part{{&tokens, 16}}, "GitHub"},
	{"glcbt-", []part{{&tokens, 16}}, "GitLab's jobs"},
	{"gldt-", []part{{&tokens, 16}}, "GitLab"},
	{"glpat-", []part{{&tokens, 16}}, "GitLab"},
	{"glsa_", []part{{&tokens, 16}}, "Grafana"},
	{"gsk_", []part{{&tokens, 24}}, "Groq"},
	{"hf_", []part{{&tokens, 24}}, "Hugging Face"},
	{"hvb.", []part{{&tokens, 20}}, "HashiCorp Vault"},
	{"hvr.", []part{{&tokens, 20}}, "HashiCorp Vault"},
	{"hvs.", []part{{&tokens, 20}}, "HashiCorp Vault"},
	{"jina_", []part{{&tokens, 24}}, "Jina"},
	{"key-", []part{{&tokens, 32}}, "Mailgun"},
	{"lin_oauth_", []part{{&tokens, 16}}, "Linear"},
	{"lsv2_", []part{{&tokens, 20}}, "LangSmith"},
	{"napi_", []part{{&tokens, 40}}, "Neon"},
	{"nfp_", []part{{&tokens, 24}}, "Netlify"},
	{"npm_", []part{{&tokens, 30}}, "npm"},
	{"ntn_", []part{{&tokens, 40}}, "Notion"},
	{"nvapi-", []part{{&tokens, 20}}, "NVIDIA"},
	{"pcsk_", []part{{&tokens, 20}}, "Pinecone"},
	{"phx_", []part{{&tokens, 30}}, "PostHog"},
	{"pk_live_", []part{{&tokens, 10}}, "Stripe"},
	{"pul-", []part{{&tokens, 40}}, "Pulumi"},
	{"pypi-", []part{{&tokens, 30}}, "PyPI"},
	{"r8_", []part{{&tokens, 30}}, "Replicate"},
	{"rk_live_", []part{{&tokens, 10}}, "Stripe"},
	{"rnd_", []part{{&tokens, 24}}, "Render"},
	{"rpa_", []part{{&tokens, 30}}, "RunPod"},
	{"sb_secret_", []part{{&tokens, 16}}, "Supabase"},
	{"sbp_", []part{{&tokens, 30}}, "Supabase"},
	{"secret_", []part{{&tokens, 40}}, "Notion"},
	{"sgp_", []part{{&tokens, 40}}, "Sourcegraph"},
	{"shpat_", []part{{&tokens, 16}}, "Shopify"},
	{"sk-", []part{{&tokens, 16}}, "OpenAI and Anthropic keys"},
	{"sk_", []part{{&alnums, 40}}, "ElevenLabs"},
	{"sk_live_", []part{{&tokens, 10}}, "Stripe"},
	{"sk_test_", []part{{&tokens, 10}}, "Stripe"},
	{"sl.", []part{{&tokens, 60}}, "Dropbox"},
	{"sntrys_", []part{{&jwts, 20}}, "Sentry, with what it is for in base64"},
	{"sq0csp-", []part{{&tokens, 20}}, "Square"},
	{"tskey-", []part{{&tokens, 16}}, "Tailscale"},
	{"tvly-", []part{{&tokens, 20}}, "Tavily"},
	{"vcp_", []part{{&tokens, 24}}, "Vercel"},
	{"vercel_blob_rw_", []part{{&tokens, 16}}, "Vercel"},
	{"webhookb2/", []part{{&hooks, 20}}, "Microsoft Teams, the same"},
	{"whsec_", []part{{&tokens, 16}}, "webhook secrets"},
	{"xai-", []part{{&tokens, 24}}, "xAI"},
	{"xapp-", []part{{&tokens, 10}}, "Slack"},
	{"xoxa-", []part{{&tokens, 8}}, "Slack"},
	{"xoxb-", []part{{&tokens, 8}}, "Slack"},
	{"xoxc-", []part{{&tokens, 8}}, "Slack"},
	{"xoxd-", []part{{&tokens, 8}}, "Slack"},
	{"xoxo-", []part{{&tokens, 8}}, "Slack"},
	{"xoxp-", []part{{&tokens, 8}}, "Slack"},
	{"xoxr-", []part{{&tokens, 8}}, "Slack"},
	{"xoxs-", []part{{&tokens, 8}}, "Slack"},
	{"ya29.", []part{{&tokens, 16}}, "Google"},
}

// shortFlag is a flag of one letter that takes a credential, but only of certain programs: for
// others -p is a port.
type shortFlag struct {
	program string
	flag    string
	joined  bool // the value may stand in the same argument
	why     string
}

var shortFlags = [...]shortFlag{
	{"mysql", "-p", true, "-pSECRET; -p alone asks"},
	{"mysqldump", "-p", true, "-pSECRET"},
	{"mysqladmin", "-p", true, "-pSECRET"},
	{"mysqlimport", "-p", true, "-pSECRET"},
	{"mariadb", "-p", true, "-pSECRET"},
	{"mariadb-dump", "-p", true, "-pSECRET"},
	{"sshpass", "-p", true, "the password of ssh"},
	{"curl", "-u", true, "user:password"},
	{"curl", "--user", false, "user:password"},
	{"curl", "-U", true, "the proxy's user:password"},
	{"curl", "--proxy-user", false, "the proxy's user:password"},
	{"curl", "-b", true, "cookies"},
	{"http", "-a", false, "user:password"},
	{"https", "-a", false, "user:password"},
	{"docker", "-p", false, "docker login; a port elsewhere, hidden all the same"},
	{"podman", "-p", false, "podman login; a port elsewhere, hidden all the same"},
	{"redis-cli", "-a", true, "its password"},
	{"mongo", "-p", false, "its password"},
	{"mongosh", "-p", false, "its password"},
	{"mongodump", "-p", false, "its password"},
	{"ldapsearch", "-w", false, "the bind password"},
	{"ldapmodify", "-w", false, "the bind password"},
	{"sqlcmd", "-P", true, "its password"},
	{"zip", "-P", false, "the archive's password"},
	{"unzip", "-P", false, "the archive's password"},
	{"7z", "-p", true, "the archive's password"},
	{"az", "-p", false, "az login"},
	{"smbclient", "-U", false, "user%password"},
	{"snmpget", "-c", false, "the community is the password"},
	{"snmpwalk", "-c", false, "the community is the password"},
}
