import { Prng } from '../../shared/sim/prng.ts';
import { deployment } from './closed-loop/manifests.ts';

/** Deployments that a seed draws, for each of whose pods some node of a wide NodePool is right. */

type Fields = Readonly<Record<string, unknown>>;

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c'];

/** Which nodes suit. */
const PLACES = ['any', 'zone', 'spot', 'arch', 'not-zone', 'large', 'dedicated'] as const;
/** What other pods have to do with it. */
const TIES = [
  ...['alone', 'spread-zones', 'spread-all-zones', 'spread-hosts', 'soft'],
  ...['apart', 'near-others', 'port'],
] as const;

interface Drawn {
  readonly name: string;
  readonly place: (typeof PLACES)[number];
  readonly tie: (typeof TIES)[number];
  readonly zone: string;
  /** The one that `near-others` means. */
  readonly other: string;
}

const selected = (key: string, operator: string, values: readonly string[]): Fields => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }],
      },
    },
  },
});

function placeOf({ place, zone }: Drawn): Fields {
  switch (place) {
    case 'zone':
      return { nodeSelector: { [ZONE]: zone } };
    case 'spot':
      return { nodeSelector: { 'karpenter.sh/capacity-type': 'spot' } };
    case 'arch':
      return { nodeSelector: { 'kubernetes.io/arch': 'arm64' } };
    case 'not-zone':
      return selected(ZONE, 'NotIn', [zone]);
    case 'large':
      return selected('karpenter.k8s.aws/instance-cpu', 'Gt', ['3']);
    case 'dedicated':
      return {
        nodeSelector: { team: 'ml' },
        tolerations: [{ key: 'team', operator: 'Equal', value: 'ml', effect: 'NoSchedule' }],
      };
    default:
      return {};
  }
}

function spreadOf(name: string, key: string, rest: Fields = {}): Fields {
  const labelSelector = { matchLabels: { app: name } };
  const hard = { whenUnsatisfiable: 'DoNotSchedule', maxSkew: 1 };
  return { topologySpreadConstraints: [{ ...hard, topologyKey: key, labelSelector, ...rest }] };
}

function affinityOf(kind: 'podAffinity' | 'podAntiAffinity', name: string, key: string): Fields {
  const term = { topologyKey: key, labelSelector: { matchLabels: { app: name } } };
  return { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}

function tieOf({ tie, name, other }: Drawn): Fields {
  switch (tie) {
    case 'spread-zones':
      return spreadOf(name, ZONE);
    case 'spread-all-zones':
      return spreadOf(name, ZONE, { minDomains: 3 });
    case 'spread-hosts':
      return spreadOf(name, HOST, { maxSkew: 2 });
    case 'soft':
      return spreadOf(name, ZONE, { whenUnsatisfiable: 'ScheduleAnyway' });
    case 'apart':
      return { affinity: affinityOf('podAntiAffinity', name, HOST) };
    case 'near-others':
      return { affinity: affinityOf('podAffinity', other, ZONE) };
    default:
      return {};
  }
}

/** Fields of pod specs laid over one another; of `affinity` the parts. */
function merged(a: Fields, b: Fields): Fields {
  const affinity = { ...(a['affinity'] as object), ...(b['affinity'] as object) };
  return { ...a, ...b, ...(Object.keys(affinity).length === 0 ? {} : { affinity }) };
}

/** Zones that suit have to be as many as are asked for, and those of the other pods among them. */
function canBe({ place, tie }: Pick<Drawn, 'place' | 'tie'>): boolean {
  const isOpen = place !== 'zone' && place !== 'not-zone';
  return isOpen || (tie !== 'spread-all-zones' && tie !== 'near-others');
}

/** So many Deployments of one seed, and how many pods they have. */
export function drawnWorkloads(seed: number, count: number) {
  const random = new Prng(seed, 'workloads');
  const one = <Item>(items: readonly Item[]): Item => {
    const item = items[random.between(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  };
  let pods = 0;
  const objects = Array.from({ length: count }, (_, at) => {
    const name = `drawn-${seed}-${at}`;
    const zone = one(ZONES);
    const other = `drawn-${seed}-${random.between(0, Math.max(0, at - 1))}`;
    let drawn: Drawn = { name, place: 'any', tie: 'alone', zone, other };
    do drawn = { ...drawn, place: one(PLACES), tie: one(TIES) };
    while (!canBe(drawn));
    const replicas = random.between(1, 4);
    pods += replicas;
    const cpu = one(['100m', '400m', '900m', '1500m']);
    const made = deployment(name, replicas, cpu, merged(placeOf(drawn), tieOf(drawn)));
    if (drawn.tie === 'port') {
      const [container] = made.spec.template.spec.containers;
      Object.assign(container ?? {}, { ports: [{ containerPort: 80, hostPort: 8080 }] });
    }
    return made;
  });
  return { objects, pods };
}
