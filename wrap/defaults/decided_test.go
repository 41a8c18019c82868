package defaults

// decidedAgainst lists names that were considered for the tables of protected names and left
// writable, for people who would extend the tables.
var decidedAgainst = [...]Row{
	{".git/BISECT_*, .git/rebase-merge, .git/sequencer", "rebase and bisect have to work inside; a todo list with exec lines runs only when somebody continues that rebase"},
	{".git/branches, .git/remotes", "remotes that configuration does not have, for who fetches from or pushes to one by its name; branches have such names too (refs/remotes), and in a submodule's directory the one is not told from the other"},
	{".git/info/attributes", "it chooses among filters; the programs of filters stand in config, which is protected"},
	{".git/info/exclude, .git/info/sparse-checkout", "lists of files"},
	{".git/objects/info/alternates", "more objects to read, nothing to run"},
	{".git/refs, .git/packed-refs, .git/index", "committing is what the workspace is writable for; an index that leads elsewhere is moved away at the end"},
	{".gitattributes, .gitmodules, .gitignore", "part of the content; git takes no program from them (update = !command is refused since 2.20)"},
	{".env", "variables of the project's own programs, which their set-up writes; direnv takes any from it where .envrc or its own settings say so (dotenv), and Gemini takes any from it in a directory that it trusts, NODE_OPTIONS among them: --ignore-env there, or advanced.ignoreLocalEnv"},
	{"flake.nix, flake.lock, shell.nix, default.nix", "the project's own build; nix-direnv evaluates them again as they change and does not ask, unless .envrc says nix_direnv_manual_reload: where it is used, and for what else a .envrc loads, a mount of mode ro keeps them"},
	{".exrc, .nvim.lua, .dir-locals.el, .gdbinit, .lldbinit", "their programs ask, or read them only for who has switched that on; .exrc, .gdbinit and .lldbinit of a home are read unasked, and are protected there"},
	{".github/workflows, .gitlab-ci.yml", "run on a CI service after a push, where they are reviewed; not on this host"},
	{".pre-commit-config.yaml, lefthook.yml", "part of the project like a Makefile; they run only through a hook that the user installed"},
	{".Rprofile, .irbrc, .pryrc, .pdbrc", "a language's own shell or debugger runs them, which is started to run the project's code"},
	{".npmrc, .yarnrc.yml, .pnpmfile.cjs, .cargo/config.toml, .mvn, .bazelrc", "what builds obey, beside scripts and plugins of the same project that they run"},
	{".tool-versions, .python-version, rust-toolchain.toml", "choose a version of a tool; a directory with one runs when that tool is called there"},
	{"AGENTS.md, CLAUDE.md, GEMINI.md, .cursorrules", "text that agents read; the next agent's sandbox is the answer to it"},
	{"Makefile, CMakeLists.txt, build.rs, setup.py, conftest.py", "the project's own build: it is written to be changed, and runs when somebody builds"},
	{"core.excludesFile, commit.template", "lists and texts that a git configuration names"},
	{"documents of specs, workshop.yaml, golem-forge.config.yaml, *.worker", "what made a run stays as it is in it; others are content, and may be written by whoever writes workers: keep what is to bind later runs outside of what they write"},
	{"git aliases, difftool, mergetool", "an alias runs when somebody types it, as a Makefile's target does; the tools' programs are protected where they are files of the workspace"},
	{"node_modules, vendor, .venv", "dependencies, as the project's own code"},
	{"pijul.toml", "its hooks run only as they were approved"},
	{"~/.local/share/pnpm", "pnpm keeps what it installs for every project there, beside the programs for the PATH"},
	{"package.json, Cargo.toml, pyproject.toml, go.mod", "scripts in them run when somebody builds or installs, which is what they are edited for"},
}
