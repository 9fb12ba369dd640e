import { meant } from '../../shared/contract/nearest.ts';
import { BadInput } from '../bad-input.ts';
import type { WorkloadKind } from './workload.ts';

/** What is asked about. */
export type Asked =
  | { readonly kind: 'pod' | 'node' | 'nodeclaim'; readonly name: string }
  /** The pods of a workload. */
  | { readonly kind: WorkloadKind; readonly name: string };

/** As kubectl takes them: in any case, in the plural, short, and with the group. */
const WORDS = {
  pod: ['pod', 'pods', 'po'],
  node: ['node', 'nodes', 'no'],
  nodeclaim: ['nodeclaim', 'nodeclaims', 'nodeclaim.karpenter.sh', 'nodeclaims.karpenter.sh'],
  Deployment: ['deployment', 'deployments', 'deploy', 'deployment.apps', 'deployments.apps'],
  ReplicaSet: ['replicaset', 'replicasets', 'rs', 'replicaset.apps', 'replicasets.apps'],
  StatefulSet: ['statefulset', 'statefulsets', 'sts', 'statefulset.apps', 'statefulsets.apps'],
  DaemonSet: ['daemonset', 'daemonsets', 'ds', 'daemonset.apps', 'daemonsets.apps'],
  Job: ['job', 'jobs', 'job.batch', 'jobs.batch'],
  CronJob: ['cronjob', 'cronjobs', 'cj', 'cronjob.batch', 'cronjobs.batch'],
} as const satisfies Readonly<Record<Asked['kind'], readonly string[]>>;

const ALL: readonly Asked['kind'][] = [
  ...(['pod', 'node', 'nodeclaim'] as const),
  ...(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const),
];

const KINDS: ReadonlyMap<string, Asked['kind']> = new Map(
  ALL.flatMap((kind) => WORDS[kind].map((word) => [word, kind] as const)),
);

/** The words that errors and completion name. */
export const EXPLAINED: readonly string[] = ALL.map((kind) => WORDS[kind][0]);

/** A name as plans and events have it, too: `web` in the namespace, or `shop/web` in its own. */
export function placed(
  name: string,
  namespace: string,
): { readonly namespace: string; readonly own: string } {
  const [own = name, given = namespace] = name.split('/').reverse();
  return { own, namespace: given };
}

/** `pod web`, `pod/web`, `po web`, `deploy/web`, or `Pod/shop/web` as plans and events name it. */
export function askedOf(what: string, name: string | undefined): Asked {
  const at = what.indexOf('/');
  const [kindText, own] =
    name === undefined && at > 0 ? [what.slice(0, at), what.slice(at + 1)] : [what, name ?? ''];
  if (own === '') {
    throw new BadInput([`${what}: expected a kind and a name, such as pod/web`]);
  }
  const kind = KINDS.get(kindText.toLowerCase());
  if (kind !== undefined) return { kind, name: own };
  const near = meant(kindText.toLowerCase(), EXPLAINED);
  const all = `${EXPLAINED.slice(0, -1).join(', ')} or ${EXPLAINED.at(-1)}`;
  throw new BadInput([`${kindText}: expected ${all}${near}`]);
}
