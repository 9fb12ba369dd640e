import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { find } from '../../shared/kube/find.ts';
import { listEach, property, type Selection, text } from '../../shared/kube/list.ts';
import { BadInput } from '../bad-input.ts';

/** Karpenter's Deployment as it is in the cluster. */
export interface Karpenter {
  readonly namespace: string;
  readonly name: string;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** e.g. `1.14.1`; undefined: neither image nor label names it. */
  readonly version: string | undefined;
  /** By the names of Karpenter's environment variables; its flags are among them. */
  readonly settings: ReadonlyMap<string, string>;
  /** Names of settings that a Secret or ConfigMap holds: their values are not read. */
  readonly unread: readonly string[];
  /** Programs that write the Deployment from elsewhere, such as `Argo CD`. */
  readonly writers: readonly string[];
  /** Selects its pods. */
  readonly labels: Readonly<Record<string, string>>;
}

/** https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/: the chart's name. */
const CHART_LABEL = 'app.kubernetes.io/name';
const VERSION_LABEL = 'app.kubernetes.io/version';
/** Of the image `public.ecr.aws/karpenter/controller:1.14.1@sha256:…`, or of a copy of it. */
const IMAGE = /(?:^|\/)karpenter\/controller(?::v?([0-9][^@]*))?(?:@.*)?$/;

/**
 * Labels and annotations by which programs mark what they apply, and their names as field managers:
 * Argo CD before 3.0 marks objects by a label that charts have too.
 */
const WRITERS: readonly (readonly [mark: RegExp, writer: string])[] = [
  [/^argocd\.argoproj\.io\/(instance|tracking-id)$/, 'Argo CD'],
  [/^argocd(-application)?-controller$/, 'Argo CD'],
  [/^(kustomize|helm)\.toolkit\.fluxcd\.io\/name$/, 'Flux'],
  [/^(kustomize|helm)-controller$/, 'Flux'],
];

function recordOf(value: unknown): Readonly<Record<string, string>> {
  const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(pairs.map(([key, each]) => [key, text(each)]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** `--feature-gates=A=true` and `--feature-gates A=true`, under the name of the variable. */
function flagsOf(args: readonly string[]): readonly (readonly [string, string])[] {
  return args.flatMap((arg, at): readonly (readonly [string, string])[] => {
    const [, flag, value] = /^--?([a-z][a-z-]*)(?:=(.*))?$/s.exec(arg) ?? [];
    if (flag === undefined) return [];
    const next = args[at + 1];
    const given = value ?? (next?.startsWith('-') === false ? next : 'true');
    return [[flag.replaceAll('-', '_').toUpperCase(), given]];
  });
}

/** As Go reads a setting that is on or off. https://pkg.go.dev/strconv#ParseBool */
export function isOn(value: string | undefined): boolean {
  return /^(1|t|true)$/i.test(value ?? '');
}

/** A flag holds against the variable, as in Karpenter. */
function settingsOf(container: unknown): ReadonlyMap<string, string> {
  const variables = listOf(property(container, 'env'))
    .filter((each) => property(each, 'valueFrom') === undefined)
    .map((each) => [text(property(each, 'name')), text(property(each, 'value'))] as const);
  return new Map([...variables, ...flagsOf(listOf(property(container, 'args')).map(text))]);
}

/** Variables of Secrets and ConfigMaps; those of the pod itself, such as its namespace, are none. */
function unreadOf(container: unknown): readonly string[] {
  const ofObjects = listOf(property(container, 'env')).filter((each) => {
    const source = property(each, 'valueFrom');
    const refs = ['secretKeyRef', 'configMapKeyRef'];
    return refs.some((ref) => property(source, ref) !== undefined);
  });
  const all = listOf(property(container, 'envFrom')).length > 0 ? ['envFrom'] : [];
  return [...ofObjects.map((each) => text(property(each, 'name'))), ...all];
}

/** The chart's container, or of another chart the one that has Karpenter's settings. */
function controllerOf(containers: readonly unknown[]): unknown {
  return (
    containers.find((each) => IMAGE.test(text(property(each, 'image')))) ??
    containers.find((each) => text(property(each, 'name')) === 'controller') ??
    containers.find((each) => settingsOf(each).has('CLUSTER_NAME')) ??
    containers[0]
  );
}

/** Karpenter, where the Deployment is its controller's; `isNamed`: somebody has said so. */
export function karpenterOf(deployment: unknown, isNamed = false): Karpenter | undefined {
  const metadata = property(deployment, 'metadata');
  const spec = property(deployment, 'spec');
  const labels = recordOf(property(metadata, 'labels'));
  const containers = listOf(property(property(property(spec, 'template'), 'spec'), 'containers'));
  const isKarpenter =
    isNamed ||
    labels[CHART_LABEL] === 'karpenter' ||
    containers.some((each) => IMAGE.test(text(property(each, 'image'))));
  const container = controllerOf(containers);
  if (!isKarpenter || container === undefined) return undefined;
  const replicas = property(spec, 'replicas');
  const fields = listOf(property(metadata, 'managedFields'));
  const marks = [
    ...Object.keys({ ...labels, ...recordOf(property(metadata, 'annotations')) }),
    ...fields.map((each) => text(property(each, 'manager'))),
  ];
  const writers = WRITERS.filter(([mark]) => marks.some((each) => mark.test(each)));
  return {
    namespace: text(property(metadata, 'namespace')),
    name: text(property(metadata, 'name')),
    replicas: typeof replicas === 'number' ? replicas : 1,
    version:
      IMAGE.exec(text(property(container, 'image')))?.[1]?.replace(/^v/, '') ??
      labels[VERSION_LABEL],
    settings: settingsOf(container),
    unread: unreadOf(container),
    writers: [...new Set(writers.map(([, writer]) => writer))],
    labels: recordOf(property(property(spec, 'selector'), 'matchLabels')),
  };
}

/** `namespace/name` */
export function deploymentName({ namespace, name }: Pick<Karpenter, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

async function listAll(
  client: KubeClient,
  resource: Resource,
  filter: Pick<Selection, 'labelSelector' | 'withManagers'>,
): Promise<readonly unknown[]> {
  let found: unknown[] = [];
  await listEach(
    client,
    { resource, ...filter },
    {
      start: () => {
        found = [];
      },
      object: (each) => void found.push(each),
    },
  );
  return found;
}

/**
 * Karpenter's Deployment, by its name or by its image; undefined: there is none. Bad input: the name
 * is not that of a Deployment, or several Deployments are Karpenter's and none was named.
 */
export async function findKarpenter(
  client: KubeClient,
  named: string | undefined,
): Promise<Karpenter | undefined> {
  if (named !== undefined) {
    const [namespace = '', name = ''] = named.split('/');
    const deployment = await find(client, RESOURCES.deployments, { namespace, name });
    const found = deployment === undefined ? undefined : karpenterOf(deployment, true);
    if (found !== undefined) return found;
    throw new BadInput([`--karpenter ${named}: there is no Deployment of this name`]);
  }
  const all = await listAll(client, RESOURCES.deployments, { withManagers: true });
  const found = all.flatMap((each) => karpenterOf(each) ?? []);
  if (found.length <= 1) return found[0];
  const names = found.map(deploymentName).sort().join(', ');
  throw new BadInput([`several Deployments are Karpenter's: ${names}; name one with --karpenter`]);
}

/** A pod that has not ended; one that is being deleted has not yet. */
export interface KarpenterPod {
  readonly name: string;
  readonly isReady: boolean;
}

function podOf(pod: unknown): KarpenterPod | undefined {
  const status = property(pod, 'status');
  const phase = text(property(status, 'phase'));
  if (phase === 'Succeeded' || phase === 'Failed') return undefined;
  const conditions = listOf(property(status, 'conditions'));
  const ready = conditions.find((each) => property(each, 'type') === 'Ready');
  const isReady = property(ready, 'status') === 'True';
  return { name: text(property(property(pod, 'metadata'), 'name')), isReady };
}

/** Pods of the Deployment, by name. */
export async function podsOfKarpenter(
  client: KubeClient,
  { namespace, labels }: Pick<Karpenter, 'namespace' | 'labels'>,
): Promise<readonly KarpenterPod[]> {
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const pods = await listAll(client, RESOURCES.pods, { labelSelector });
  return pods
    .filter((pod) => text(property(property(pod, 'metadata'), 'namespace')) === namespace)
    .flatMap((pod) => podOf(pod) ?? [])
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Sets `spec.replicas` as `kubectl scale` does. */
export async function scaleKarpenter(
  client: KubeClient,
  { namespace, name }: Pick<Karpenter, 'namespace' | 'name'>,
  replicas: number,
): Promise<void> {
  const patch = { kind: 'merge', value: { spec: { replicas } } } as const;
  await client.patch(RESOURCES.deployments, { namespace, name }, patch, 'scale');
}
