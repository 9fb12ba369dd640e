import type { StackSettings } from '../../shared/app/settings.ts';
import { nodeClassProblems } from '../../shared/core/launch/node-class-problems.ts';
import { isOurs, isUsable } from '../../shared/core/launch/node-classes.ts';
import { conditionOf } from '../../shared/core/lifecycle/conditions.ts';
import {
  CONSOLIDATION_GUARD,
  LIMIT_GROUP,
  LIMITS_GUARD,
  PAUSE,
  RETURN_TO_FIRST_CHOICE,
  USAGE_GUARD,
} from '../../shared/core/model/labels.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import { fail, type Line, ok, warn } from '../doctor/line.ts';
import { aliveMs, type Sign } from '../release/alive.ts';
import type { StackPlace } from '../stack-settings.ts';
import { counted, someOf } from '../words.ts';
import { liveClaims, unfinished } from './claims.ts';
import { deploymentName, isOn, type Karpenter } from './karpenter.ts';
import { checkSettings } from './settings.ts';
import { doesKarpenterRun, type Position } from './walk.ts';

/** What is checked before Karpenter is stopped. */
export interface Checked {
  readonly position: Position;
  readonly signs: readonly Sign[];
  readonly place: StackPlace;
  readonly stack: StackSettings;
  /** Objects that Joiner cannot read, a line each. */
  readonly unreadable: readonly string[];
}

/** Karpenter's kinds are v1 from then on. */
const MAJOR_MIN = 1;

function checkVersion(karpenter: Karpenter): Line {
  const { version, replicas } = karpenter;
  const name = deploymentName(karpenter);
  if (version === undefined) {
    return warn('karpenter', `${name} does not say its version`, 'see that it is 1.0 or newer');
  }
  if (Number(version.split('.')[0]) < MAJOR_MIN) {
    const advice = 'upgrade Karpenter to 1.0 or newer first; joiner convert converts manifests';
    return fail('karpenter', `${name} is ${version}: its objects are not v1`, advice);
  }
  return ok('karpenter', `${version}, Deployment ${name} with ${replicas} replicas`);
}

function checkElection(karpenter: Karpenter, position: Position): readonly Line[] {
  const { settings } = karpenter;
  const name = settings.get('LEADER_ELECTION_NAME') || 'karpenter-leader-election';
  const isOff = isOn(settings.get('DISABLE_LEADER_ELECTION'));
  if (isOff || name !== 'karpenter-leader-election') {
    const how = isOff ? 'has no leader election' : `uses the Lease ${name}`;
    return [
      fail(
        'leader',
        `Karpenter ${how}: Joiner does not see that it runs, and both change nodes`,
        'remove DISABLE_LEADER_ELECTION and LEADER_ELECTION_NAME from its settings',
      ),
    ];
  }
  if (karpenter.replicas === 0) return [];
  const { lease } = position;
  if (lease !== undefined && doesKarpenterRun(position)) {
    return [ok('leader', `${lease.holder} holds the Lease ${lease.namespace}/${name}`)];
  }
  const advice = 'kubectl logs of its pods says why; nobody launches nodes now';
  return [warn('leader', 'no pod of Karpenter has renewed its Lease in the last minute', advice)];
}

function checkWriters({ writers, namespace, name }: Karpenter): readonly Line[] {
  if (writers.length === 0) return [];
  const by = writers.join(' and ');
  return [
    warn(
      'gitops',
      `${by} applies the Deployment ${namespace}/${name}, and would scale it up again`,
      'set replicas: 0 in its source first, or pause its synchronisation, and use --by-hand',
    ),
  ];
}

/** What a Secret or ConfigMap says of these, people have to compare themselves. */
function checkUnread({ unread }: Karpenter): readonly Line[] {
  if (unread.length === 0) return [];
  return [
    warn(
      'settings',
      `not compared, because a Secret or ConfigMap holds their values: ${someOf(unread)}`,
      'compare the name of the cluster, the queue and the feature gates yourself',
    ),
  ];
}

function checkName(karpenter: Karpenter, { cluster }: StackPlace): readonly Line[] {
  const theirs = karpenter.settings.get('CLUSTER_NAME');
  if (theirs === undefined || cluster === undefined || theirs === cluster) return [];
  return [
    fail(
      'cluster name',
      `Karpenter tags its instances with the cluster ${theirs}, Joiner with ${cluster}`,
      `deploy with -c cluster=${theirs}`,
    ),
  ];
}

function checkJoiner({ position: { nowMs }, signs }: Checked): Line {
  const own = signs.filter(({ who }) => who === 'Joiner').toSorted((a, b) => b.atMs - a.atMs)[0];
  const advice = 'deploy the stack; joiner doctor says what keeps it';
  if (own === undefined) return fail('joiner', 'no function has ever taken a Lease', advice);
  const seconds = Math.max(0, Math.round((nowMs - own.atMs) / 1000));
  const message = `its Lease ${own.lease} was taken ${seconds} s ago`;
  return nowMs - own.atMs < aliveMs('Joiner')
    ? ok('joiner', message)
    : fail('joiner', message, advice);
}

function checkClass(nodeClass: NodeClass): readonly Line[] {
  const { name, status } = nodeClass;
  const problems = nodeClassProblems(nodeClass).map(({ message }) =>
    fail(
      'classes',
      `EC2NodeClass ${name}: ${message}: Joiner would launch nothing with it`,
      'change the class, or keep Karpenter for it',
    ),
  );
  if (problems.length > 0 || isUsable(nodeClass)) return problems;
  const why = conditionOf(status, 'Ready')?.message ?? 'it has no status';
  const advice = `kubectl describe ec2nodeclass ${name}`;
  return [warn('classes', `EC2NodeClass ${name} is not ready: ${why}`, advice)];
}

function checkObjects({ position: { state }, unreadable }: Checked): readonly Line[] {
  const { nodePools, nodeClaims } = state.objects;
  const pools = nodePools.filter(({ template }) => isOurs(template.nodeClassRef));
  const others = nodeClaims.filter(({ nodeClassRef }) => !isOurs(nodeClassRef));
  const found = [
    counted(pools.length, 'NodePool'),
    counted(state.nodeClasses.length, 'EC2NodeClass'),
    counted(liveClaims(state).length, 'NodeClaim'),
  ];
  const refused = unreadable.map((line) =>
    fail('objects', line, 'correct the object: Joiner leaves out what it cannot read'),
  );
  const open = unfinished(state);
  return [
    ok('objects', found.join(', ')),
    ...refused,
    ...state.nodeClasses.flatMap(checkClass),
    ...(others.length === 0
      ? []
      : [
          ok(
            'objects',
            `${counted(others.length, 'NodeClaim')} of other classes, which nobody changes`,
          ),
        ]),
    ...(open.length === 0
      ? []
      : [warn('under way', someOf(open), 'the step settle waits until Karpenter has finished')]),
  ];
}

/** What the cluster says of Karpenter, and how Joiner would differ. */
export function checkAdoption(checked: Checked): readonly Line[] {
  const { position, place, stack } = checked;
  const { karpenter, state } = position;
  const ofKarpenter =
    karpenter === undefined
      ? [
          doesKarpenterRun(position)
            ? warn(
                'karpenter',
                `runs (Lease ${position.lease?.namespace}), but its Deployment was not found`,
                'name it with --karpenter NAMESPACE/NAME',
              )
            : ok('karpenter', 'not installed'),
        ]
      : [
          checkVersion(karpenter),
          ...checkElection(karpenter, position),
          ...checkWriters(karpenter),
          ...checkName(karpenter, place),
          ...checkUnread(karpenter),
          ...checkSettings(karpenter, stack, state),
        ];
  return [...ofKarpenter, checkJoiner(checked), ...checkObjects(checked)];
}

/** What Karpenter would not find as it expects it. */
export function checkHandBack({ position }: Pick<Checked, 'position'>): readonly Line[] {
  const { karpenter, record, state } = position;
  const lines: Line[] = [];
  if (karpenter !== undefined) {
    lines.push(checkVersion(karpenter), ...checkElection(karpenter, position));
    lines.push(...checkWriters(karpenter));
  } else {
    const advice = 'install it when the step start says so, with replicas: 2';
    lines.push(warn('karpenter', 'no Deployment of Karpenter is in the cluster', advice));
  }
  const replicas = record?.karpenter?.replicas;
  if (replicas !== undefined) lines.push(ok('replicas', `Karpenter had ${replicas}`));
  return [...lines, ...checkAnnotations(state.objects.nodePools)];
}

/** What people set on NodePools, by which Joiner launches and disrupts. */
const HOLDING = [
  LIMITS_GUARD,
  USAGE_GUARD,
  CONSOLIDATION_GUARD,
  RETURN_TO_FIRST_CHOICE,
  LIMIT_GROUP,
  PAUSE,
];

function checkAnnotations(nodePools: readonly NodePool[]): readonly Line[] {
  return HOLDING.flatMap((key) => {
    const pools = nodePools.filter(({ annotations }) => annotations[key] !== undefined);
    if (pools.length === 0) return [];
    const names = someOf(pools.map(({ name }) => name));
    const message = `the annotation ${key} of NodePool ${names} means nothing to Karpenter`;
    const advice = 'they stay, for Joiner to find them again; see what has to hold until then';
    return [warn('annotations', message, advice)];
  });
}
