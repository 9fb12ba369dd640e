import type { StackSettings } from '../../shared/app/settings.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import { GATE_NAMES } from '../../shared/contract/setting-kinds.ts';
import { type SettingKey, settingOf } from '../../shared/contract/settings.ts';
import { FEATURE_GATES, type FeatureGate } from '../../shared/contract.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { type Line, ok, warn } from '../doctor/line.ts';
import { counted } from '../words.ts';
import { isOn, type Karpenter } from './karpenter.ts';

/** Karpenter's own defaults where they are not Joiner's. https://karpenter.sh/docs/reference/settings/ */
const KARPENTER_GATES: Readonly<Partial<Record<FeatureGate, boolean>>> = {
  NodeOverlay: false,
  StaticCapacity: false,
  CapacityBuffer: false,
};

/** Gates of Karpenter that nothing of Joiner stands for. */
const ONLY_KARPENTER = [
  'TerminateFirstDrift',
  'TerminateFirstRepair',
  'PodDeletionCostManagement',
  'NodeClassCEL',
  'DRANVIDIAGPU',
  'DRAEFA',
  'RebootForRepair',
];

function gatesOf({ settings }: Karpenter): ReadonlyMap<string, boolean> {
  const text = [settings.get('FEATURE_GATES'), settings.get('AWS_FEATURE_GATES')].join(',');
  const pairs = text.split(',').map((each) => each.split('=').map((word) => word.trim()));
  return new Map(pairs.map(([name = '', value]) => [name, isOn(value)]));
}

/** What a gate is about in this cluster; undefined: nothing here depends on it. */
function subjectOf(gate: FeatureGate, state: ClusterState): string | undefined {
  const { nodeOverlays, nodePools } = state.objects;
  const some = (count: number, what: string) => (count === 0 ? undefined : counted(count, what));
  switch (gate) {
    case 'NodeOverlay':
      return some(nodeOverlays.length, 'NodeOverlay');
    case 'StaticCapacity': {
      const fixed = nodePools.filter(({ replicas }) => replicas !== undefined);
      return some(fixed.length, 'static NodePool');
    }
    case 'CapacityBuffer':
      return some(state.capacityBuffers.length, 'CapacityBuffer');
    case 'NodeRepair':
      return 'unhealthy nodes';
    case 'SpotToSpotConsolidation':
      return 'consolidation of spot nodes';
    case 'ReservedCapacity':
      return 'capacity reservations';
    case 'PodNomination':
      return undefined;
  }
}

function gateLines(
  karpenter: Karpenter,
  stack: StackSettings,
  state: ClusterState,
): readonly Line[] {
  const given = gatesOf(karpenter);
  const theirs = (gate: FeatureGate): boolean =>
    given.get(gate) ?? KARPENTER_GATES[gate] ?? FEATURE_GATES[gate];
  const differing = GATE_NAMES.flatMap((gate) => {
    const subject = subjectOf(gate, state);
    const isDifferent = subject !== undefined && theirs(gate) !== stack.gates[gate];
    return isDifferent ? [{ gate, subject }] : [];
  });
  // One option for all of them: the gates that it leaves out are set to their defaults.
  const wanted = new Map(differing.map(({ gate }) => [gate, theirs(gate)]));
  const option = GATE_NAMES.map((gate) => [gate, wanted.get(gate) ?? stack.gates[gate]] as const)
    .filter(([gate, isOpen]) => isOpen !== FEATURE_GATES[gate])
    .map((pair) => pair.join('='));
  const how = option.length === 0 ? 'without featureGates' : `with -c featureGates=${option}`;
  const lines = differing.map(({ gate, subject }) => {
    const said = `${gate} is ${theirs(gate)} in Karpenter and ${stack.gates[gate]} in Joiner`;
    const advice = `for what Karpenter does, deploy ${how}`;
    return warn('feature gates', `${said}: ${subject}`, advice);
  });
  const lost = ONLY_KARPENTER.filter((gate) => given.get(gate) === true).map((gate) =>
    warn('feature gates', `${gate} is on in Karpenter; Joiner has nothing like it`, LOST),
  );
  return [...lines, ...lost];
}

const LOST = `${pageUrl('compatibility.md')} says what Joiner does instead`;

/** A setting that Karpenter has under the same variable. */
interface Compared {
  readonly prop: SettingKey;
  /** Karpenter's default. */
  readonly otherwise: string;
  /** As Joiner has it; undefined: the stack does not state it in the cluster. */
  readonly ours: (stack: StackSettings) => string | undefined;
}

const COMPARED: readonly Compared[] = [
  {
    prop: 'preferencePolicy',
    otherwise: 'Respect',
    ours: ({ useCases }) => useCases.scheduling.preferencePolicy,
  },
  {
    prop: 'minValuesPolicy',
    otherwise: 'Strict',
    ours: ({ useCases }) => useCases.scheduling.minValuesPolicy,
  },
  {
    prop: 'vmMemoryOverhead',
    otherwise: '0.075',
    ours: ({ memoryOverhead }) => String(memoryOverhead),
  },
  {
    prop: 'reservedEnis',
    otherwise: '0',
    ours: ({ reservedEnis }) => String(reservedEnis),
  },
];

function isSame(a: string, b: string): boolean {
  const numbers = [Number(a), Number(b)];
  return a === b || (numbers.every((each) => !Number.isNaN(each)) && numbers[0] === numbers[1]);
}

function variableLines({ settings }: Karpenter, stack: StackSettings): readonly Line[] {
  return COMPARED.flatMap(({ prop, otherwise, ours }) => {
    const { variable } = settingOf(prop);
    const theirs = settings.get(variable) || otherwise;
    const own = ours(stack) ?? otherwise;
    if (isSame(theirs, own)) return [];
    const said = `${variable} is ${theirs} in Karpenter and ${own} in Joiner`;
    return [warn('settings', said, `for what Karpenter does, deploy with -c ${prop}=${theirs}`)];
  });
}

/** Settings that change what happens, of which Joiner has none. */
const UNKNOWN: readonly (readonly [variable: string, isSet: (value: string) => boolean])[] = [
  ['SCHEDULER_CONFIG', (value) => value !== ''],
  ['IGNORE_DRA_REQUESTS', (value) => value === 'false'],
];

function unknownLines({ settings }: Karpenter): readonly Line[] {
  return UNKNOWN.filter(([variable, isSet]) => isSet(settings.get(variable) ?? '')).map(
    ([variable]) =>
      warn('settings', `${variable} is set in Karpenter; Joiner has no such setting`, LOST),
  );
}

/** Where Joiner decides by something else than Karpenter here. */
export function checkSettings(
  karpenter: Karpenter,
  stack: StackSettings,
  state: ClusterState,
): readonly Line[] {
  const found = [
    ...gateLines(karpenter, stack, state),
    ...variableLines(karpenter, stack),
    ...unknownLines(karpenter),
  ];
  return found.length === 0
    ? [ok('settings', "Karpenter's gates and settings are Joiner's")]
    : found;
}
