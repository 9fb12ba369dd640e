/** `a, b and 3 more`: names of which people need to see the first. */
export function someOf(names: readonly string[]): string {
  const SHOWN = 3;
  const shown = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}

/** A count and its noun: `1 node`, `2 nodes`, `3 classes`, `4 launches`, `19,500 pods`. */
export function counted(count: number, what: string): string {
  const plural = /(s|ch)$/.test(what) ? 'es' : 's';
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : plural}`;
}
