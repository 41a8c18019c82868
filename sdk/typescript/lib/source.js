/**
 * Where a password begins and ends in a word that names a database as MySQL's driver for
 * Go takes it: user:password@tcp(host:3306)/name, of any protocol, or user:password@/name
 * for a server of this host.
 * @param {string} word
 * @returns {[number, number] | undefined}
 */
export function dataSource(word) {
  let from = 0;
  let to = 0;
  // The last one counts: a password may hold another.
  for (const { index } of word.matchAll(/@[a-z0-9+-]+\([^()]*\)\//g)) to = index;
  if (to > 0) {
    from = word.search(/:(?!\/\/)/) + 1;
  } else {
    to = word.indexOf('/') - 1;
    if (to <= 0 || word[to] !== '@') return undefined;
    const user = /(?:^|=)[\w.-]+:/.exec(word.slice(0, to));
    from = user ? user.index + user[0].length : 0;
  }
  return from > 0 && from < to ? [from, to] : undefined;
}
