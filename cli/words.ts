/** `a, b and 3 more`: names of which people need to see the first, three unless said. */
export function someOf(names: readonly string[], most = 3): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** A count and its noun: `1 node`, `2 nodes`, `3 classes`, `4 launches`, `19,500 pods`. */
export function counted(count: number, what: string): string {
  const plural = /(s|ch)$/.test(what) ? 'es' : 's';
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : plural}`;
}
