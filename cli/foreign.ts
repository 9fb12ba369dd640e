/** A file among manifests that holds something else. */
export interface Foreign {
  /** In the words of a note, such as `Helm chart`. */
  readonly kind: string;
  /** Below the folder that was given. */
  readonly name: string;
}

/** Names told of each kind. */
const NAMES_MAX = 2;

const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^Chart\.ya?ml$/i, 'Helm chart'],
  [/values[^/]*\.ya?ml$/i, 'Helm values'],
  [/^kustomization\.ya?ml$/i, 'kustomization'],
  [/\.json$/i, 'JSON'],
];

/** What a file that is no manifest is, as far as its name says. */
export function foreignKind(name: string): string {
  const own = name.split(/[/\\]/).at(-1) ?? name;
  return BY_NAME.find(([pattern]) => pattern.test(own))?.[1] ?? 'YAML without kind';
}

/** One line: how many files of each kind, and the first of them. */
export function foreignNote(foreign: readonly Foreign[]): string | undefined {
  const byKind = new Map<string, Set<string>>();
  for (const { kind, name } of foreign) {
    byKind.set(kind, (byKind.get(kind) ?? new Set()).add(name));
  }
  if (byKind.size === 0) return undefined;
  const parts = [...byKind]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, names]) => {
      const told = [...names].sort().slice(0, NAMES_MAX);
      const more = names.size > NAMES_MAX ? ', …' : '';
      const what = names.size > 1 ? kind.replace(/^template /, 'templates ') : kind;
      return `${names.size} ${what} (${told.join(', ')}${more})`;
    });
  return `left out, being no manifests: ${parts.join(', ')}`;
}

/** How what makes the manifests of a folder is run, where the folder holds its input. */
export function renderingAdvice(foreign: readonly Foreign[]): string | undefined {
  const kinds = new Set(foreign.map(({ kind }) => kind));
  const nameOf = (kind: string) => foreign.find((each) => each.kind === kind)?.name ?? kind;
  if (kinds.has('kustomization')) {
    return `render ${nameOf('kustomization')} first, and give -: kustomize build DIR | joiner … -`;
  }
  if (kinds.has('Helm chart')) {
    return `render ${nameOf('Helm chart')} first, and give -: helm template CHART | joiner … -`;
  }
  return undefined;
}
