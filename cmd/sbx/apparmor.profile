# Lets sbx create user namespaces on a host where AppArmor denies them to programs
# without a profile (kernel.apparmor_restrict_unprivileged_userns is 1). It confines
# nothing: whoever may run sbx gets user namespaces through it.
abi <abi/4.0>,
include <tunables/global>

profile sbx /usr/local/bin/sbx flags=(unconfined) {
  userns,

  include if exists <local/sbx>
}
