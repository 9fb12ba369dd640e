import { CLUSTER_FUNCTIONS, type FunctionName, kubernetesGroup } from '../../shared/contract.ts';
import { type AskedOfCluster, isWriting, type Rule, rulesFor, withFollowing } from './rules.ts';

/** What the functions ask of the cluster, by function. */
export type AskedByFunction = Readonly<
  Partial<Record<FunctionName, { readonly kubernetes: readonly AskedOfCluster[] }>>
>;

/** A request that the bundles do not show, and who makes it. */
export interface FurtherAsked {
  readonly by: FunctionName;
  readonly asked: AskedOfCluster;
}

/** What the bundles ask for, and what only other runs show. */
export function withFurther(
  record: AskedByFunction,
  further: readonly FurtherAsked[],
): AskedByFunction {
  const all = CLUSTER_FUNCTIONS.map((name) => {
    const more = further.filter(({ by }) => by === name).map(({ asked }) => asked);
    return [name, { kubernetes: [...(record[name]?.kubernetes ?? []), ...more] }] as const;
  });
  return Object.fromEntries(all);
}

/** Why a resource is written, by its name and for whoever reads the file. */
const WHY: Readonly<Record<string, string>> = {
  events: 'What was done, and why something was not.',
  nodes: 'Taints, labels, finalizers and what plans rely on; the end of a node.',
  pods: 'What outlasts the grace of its node.',
  'pods/eviction': 'Drains.',
  'pods/status': 'Pods are nominated to the nodes that were planned for them.',
  nodeclaims: 'Claims: planned, annotated, deleted.',
  'nodeclaims/status': 'What became of a claim.',
  nodepools: 'Hashes by which drift is found; what failed, and what went unconfirmed.',
  'nodepools/status': 'Conditions, nodes and resources of a pool.',
  'nodeoverlays/status': 'Whether an overlay is in force.',
  ec2nodeclasses: 'Finalizers and hashes of classes.',
  'ec2nodeclasses/status': 'What a class resolves to.',
  'capacitybuffers/status': 'Whether a buffer is provided for.',
  leases: 'One writer at a time; wake-ups are marks on the Lease.',
  configmaps: "The stack's settings, for the command line.",
  selfsubjectaccessreviews: "Whether it is the cluster's admin for the moment.",
  clusterroles: 'Rights go with the stack.',
  clusterrolebindings: 'Rights go with the stack.',
  roles: 'Rights go with the stack.',
  rolebindings: 'Rights go with the stack.',
  flowschemas: 'They go with the stack.',
};

/** The checked-in file of each function, by its name `<function>.yaml`. */
export function rightsFiles(asked: AskedByFunction): ReadonlyMap<string, string> {
  return new Map(
    CLUSTER_FUNCTIONS.map((name) => [`${name}.yaml`, fileOf(name, asked[name]?.kubernetes ?? [])]),
  );
}

const head = (name: FunctionName): string =>
  `# What the function ${name} may do in the cluster: the access entry of its role puts it into the
# group ${kubernetesGroup(name)}. Written by npm run generate from what it asks for in test/e2e
# (test/infra/golden/*requests.json); test/infra/coverage finds nothing missing and nothing unused.
`;

function fileOf(name: FunctionName, asked: readonly AskedOfCluster[]): string {
  const rules = rulesFor(withFollowing(asked));
  const places = Map.groupBy(rules, ({ namespace }) => namespace);
  const documents = [...places].flatMap(([namespace, each]) => [
    roleText(name, namespace, each),
    bindingText(name, namespace),
  ]);
  return `${head(name)}${documents.join('---\n')}`;
}

function roleText(name: FunctionName, namespace: string | undefined, rules: readonly Rule[]) {
  const lines = rules.flatMap((rule, at) => {
    const before = rules[at - 1];
    const reason = reasonOf(rule);
    const isSaid = before !== undefined && reasonOf(before) === reason;
    return [...(isSaid ? [] : [`  # ${reason}`]), ...ruleLines(rule)];
  });
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  return `${metadataText(kind, name, namespace)}rules:\n${lines.join('\n')}\n`;
}

function reasonOf(rule: Rule): string {
  if (!isWriting(rule)) return 'What is looked at.';
  const [resource = ''] = rule.resources;
  const why = WHY[resource];
  if (why === undefined) throw new Error(`infra/rights/files.ts does not say why: ${resource}`);
  return why;
}

function ruleLines({ apiGroups, resources, resourceNames, verbs }: Rule): readonly string[] {
  return [
    `  - apiGroups:${listText(apiGroups)}`,
    `    resources:${listText(resources)}`,
    ...(resourceNames === undefined ? [] : [`    resourceNames:${listText(resourceNames)}`]),
    `    verbs:${listText(verbs)}`,
  ];
}

const LINE_MAX = 96;

function listText(values: readonly string[]): string {
  const shown = values.map((value) => (value === '' ? "''" : value));
  const short = ` [${shown.join(', ')}]`;
  return short.length + 18 <= LINE_MAX ? short : shown.map((each) => `\n      - ${each}`).join('');
}

function bindingText(name: FunctionName, namespace: string | undefined): string {
  const kind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
  const role = namespace === undefined ? 'ClusterRole' : 'Role';
  return `${metadataText(kind, name, namespace)}roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${role}
  name: ${kubernetesGroup(name)}
subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: ${kubernetesGroup(name)}
`;
}

function metadataText(kind: string, name: FunctionName, namespace: string | undefined): string {
  const place = namespace === undefined ? '' : `  namespace: ${namespace}\n`;
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata:
  name: ${kubernetesGroup(name)}
${place}`;
}
