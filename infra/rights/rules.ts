/** A verb on a resource of Kubernetes, as far as rules tell it from others. */
export interface AskedOfCluster {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `nodeclaims/status`. */
  readonly resource: string;
  /** Empty: in all of them. Undefined: rules do not tell. */
  readonly namespace?: string;
  /** Of resources whose objects are named in rules. */
  readonly name?: string;
}

/** One rule of a ClusterRole, or of a Role in the namespace. */
export interface Rule {
  /** Undefined: of the whole cluster. */
  readonly namespace: string | undefined;
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

/** What asking for one thing makes necessary now and then, and when. */
interface Follow {
  readonly after: (asked: AskedOfCluster) => boolean;
  readonly more: (asked: AskedOfCluster) => readonly AskedOfCluster[];
}

const READS = new Set(['get', 'list', 'watch']);
const isRead = ({ verb }: AskedOfCluster): boolean => READS.has(verb);
const also = (asked: AskedOfCluster, ...verbs: readonly string[]): readonly AskedOfCluster[] =>
  verbs.map((verb) => ({ ...asked, verb }));

/** Kinds whose objects are read before they are changed, or when a change was refused. */
const READ_AGAIN = new Set([
  'nodes',
  'nodeclaims',
  'nodepools',
  'nodeoverlays',
  'ec2nodeclasses',
  'capacitybuffers',
]);

function baseOf({ resource }: AskedOfCluster): string {
  return resource.split('/')[0] ?? '';
}

/**
 * No run is sure to show these, since they are needed only where two writers meet, or where nothing
 * was there before. Each says which request brings them.
 */
const FOLLOWS: readonly Follow[] = [
  {
    // An event that is there already is read and counted.
    after: ({ verb, resource }) => verb === 'create' && resource === 'events',
    more: (asked) => also(asked, 'get', 'patch'),
  },
  {
    // A Lease is read before it is taken. Kubernetes cannot limit a create to names.
    after: ({ verb, resource }) => verb === 'patch' && resource === 'leases',
    more: ({ name: _, ...asked }) => also(asked, 'create'),
  },
  {
    after: ({ verb, resource }) => verb === 'patch' && resource === 'leases',
    more: (asked) => also(asked, 'get'),
  },
  {
    after: (asked) => !isRead(asked) && READ_AGAIN.has(baseOf(asked)),
    more: (asked) => also({ ...asked, resource: baseOf(asked) }, 'get'),
  },
  {
    // Who applies what is not there makes it; here the name counts.
    after: ({ verb, resource }) => verb === 'patch' && resource === 'configmaps',
    more: (asked) => also(asked, 'create'),
  },
];

/** What was asked for, and what that makes necessary now and then. */
export function withFollowing(asked: readonly AskedOfCluster[]): readonly AskedOfCluster[] {
  const following = asked.flatMap((each) =>
    FOLLOWS.filter(({ after }) => after(each)).flatMap(({ more }) => more(each)),
  );
  const all = [...asked, ...following].map((each) => [keyOf(each), each] as const);
  return [...new Map(all)].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

function keyOf({ group, resource, namespace = '', name = '', verb }: AskedOfCluster): string {
  return [group, resource, namespace, name, verb].join('|');
}

/** The rules that allow what was asked and nothing else: reads together, each write by itself. */
export function rulesFor(asked: readonly AskedOfCluster[]): readonly Rule[] {
  const objects = Map.groupBy(asked, (each) => {
    const { group, resource, namespace = '', name = '' } = each;
    return [isRead(each) ? 0 : 1, namespace, group, resource, name].join('|');
  });
  const whole = [...objects.values()].flatMap((same): readonly Rule[] => {
    const [first] = same;
    if (first === undefined) return [];
    const { group, resource, namespace, name } = first;
    return [
      {
        namespace: namespace === '' ? undefined : namespace,
        apiGroups: [group],
        resources: [resource],
        resourceNames: name === undefined ? undefined : [name],
        verbs: same.map(({ verb }) => verb).sort(),
      },
    ];
  });
  return merged(merged(whole, 'resourceNames'), 'resources').toSorted(byPlace);
}

/** Rules that differ in nothing but one list become one. */
function merged(rules: readonly Rule[], field: 'resourceNames' | 'resources'): readonly Rule[] {
  const groups = Map.groupBy(rules, (each) => {
    // Every write stands for itself, so that each can say why it is needed.
    const isKept = field === 'resources' && !each.verbs.every((verb) => READS.has(verb));
    return JSON.stringify({ ...each, [field]: isKept ? each[field] : each[field] !== undefined });
  });
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const values = [...new Set(same.flatMap((each) => each[field] ?? []))].sort();
    return [{ ...first, ...(first[field] === undefined ? {} : { [field]: values }) }];
  });
}

function byPlace(a: Rule, b: Rule): number {
  return placeOf(a) < placeOf(b) ? -1 : 1;
}

function placeOf({
  namespace = '',
  apiGroups,
  resources,
  resourceNames = [],
  verbs,
}: Rule): string {
  const isWrite = verbs.some((verb) => !READS.has(verb));
  const parts = [namespace, Number(isWrite), apiGroups, resources, resourceNames, verbs];
  // Less than any letter: what is of the whole cluster comes first.
  return parts.join('\n');
}

/** Whether a rule does more than read. */
export function isWriting({ verbs }: Rule): boolean {
  return verbs.some((verb) => !READS.has(verb));
}
