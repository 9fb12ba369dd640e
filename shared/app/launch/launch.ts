import { reason } from '../../core/explain/reason.ts';
import { groupClaims, membershipOf } from '../../core/launch/fleet-group.ts';
import { haltedPools } from '../../core/launch/halted-pools.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { type ClusterState, type Instance, PortError } from '../../ports.ts';
import { launchesLeft } from '../planning/launch-rate.ts';
import type { TypesOf } from '../planning/provisioning-input.ts';
import { isApproved } from '../writes/approval.ts';
import { atOnce } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import { recordNothing } from '../writes/decisions.ts';
import { untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import {
  type Launchable,
  type Launching,
  type LaunchPass,
  placed,
  prepare,
  type Subnets,
  setAwaiting,
  subnetsOf,
} from './choice.ts';
import { launchGroup, refusedBecause, type SharedInstances, setLaunchFailed } from './group.ts';
import { recordHeldClaims } from './records.ts';

/**
 * Groups that are launched at the same time. EC2 takes two to three seconds for a fleet, and the
 * adapter begins five a second: these keep that pace up, more would only wait in line.
 */
const GROUPS_AT_ONCE = 15;

/**
 * A launch is not begun with less time than this: waiting for its turn, a fleet, and the writes
 * after it. One that takes longer and is cut off is not lost: its group and token are written.
 */
export const LAUNCH_MS = 10_000;

export interface LaunchReport {
  readonly launched: readonly string[];
  /** Claims deleted because nothing could be had for them: their pods need another plan. */
  readonly givenUp: readonly string[];
  /** Claims that are left to the next pass, as the invocation ends. */
  readonly postponed: number;
  /** Claims that have changed since they were read: to be looked at again. */
  readonly changed: number;
  /** Claims to be tried again in a moment: what they met passes by itself. */
  readonly transient: number;
}

export const NOTHING_LAUNCHED: LaunchReport = {
  launched: [],
  givenUp: [],
  postponed: 0,
  changed: 0,
  transient: 0,
};

/** Claims of ours that have no instance yet. */
export function waitingClaims(nodeClaims: readonly NodeClaim[]): readonly NodeClaim[] {
  return nodeClaims.filter(
    ({ providerId, deletedAtMs, nodeClassRef }) =>
      providerId === undefined && deletedAtMs === undefined && isOurs(nodeClassRef),
  );
}

/**
 * Launches the groups at the same time. Each has a report of its own, so that what is said in the
 * end does not go by which of them EC2 has answered first. Returns how many claims were left out.
 */
async function launchGroups(
  pass: LaunchPass,
  nodeClaims: readonly NodeClaim[],
  groups: readonly (readonly Launchable[])[],
): Promise<number> {
  const { ports, pause, remainingMs } = pass;
  const ids = nodeClaims.flatMap((claim) => claim.providerId?.split('/').slice(-1) ?? []);
  let listing: Promise<readonly Instance[]> | undefined;
  const listed = (): Promise<readonly Instance[]> => {
    listing ??= ports.compute.list();
    return listing;
  };
  const common: SharedInstances = { taken: new Set(ids), listed };
  const parts = groups.map((group) => {
    const own: LaunchPass = { ...pass, launched: [], givenUp: [], changed: [], failures: [] };
    return { group, own };
  });
  let postponed = 0;
  const launchEach = atOnce(GROUPS_AT_ONCE, parts, async ({ group, own }) => {
    if ((await pause.isOn()) && !group.every(({ claim }) => isApproved(claim, 'launch'))) {
      await recordNothing(pass, reason('launches-paused', {}), 'NodeClaims');
      return;
    }
    if (remainingMs() < LAUNCH_MS) {
      postponed += group.length;
      return;
    }
    const className = group[0]?.nodeClass.name ?? '';
    const waiting = pass.transient.get(className);
    if (waiting !== undefined) {
      pass.transient.set(className, waiting + group.length);
      return;
    }
    const name = group[0]?.claim.name ?? '';
    const launch = () => launchGroup(own, common, group);
    own.failures.push(...(await attempt(`NodeClaim/${name}`, launch)));
  });
  await launchEach.finally(() => {
    for (const { own } of parts) {
      pass.launched.push(...own.launched);
      pass.givenUp.push(...own.givenUp);
      pass.changed.push(...own.changed);
      pass.failures.push(...own.failures);
    }
  });
  if (postponed > 0) {
    const why = reason('launches-postponed', { waiting: postponed });
    await recordNothing(pass, why, 'NodeClaims');
  }
  return postponed;
}

/** Their time runs from here: their pods may find another NodePool. */
async function setHalted(
  pass: LaunchPass,
  waiting: readonly NodeClaim[],
  halted: ReadonlySet<string>,
): Promise<void> {
  for (const claim of waiting) {
    const pool = claim.labels[NODE_POOL] ?? '';
    if (!halted.has(pool)) continue;
    const why = reason('static-launches-halted', { nodePool: pool });
    const say = () => setAwaiting(pass, claim, 'LaunchesHalted', why);
    pass.failures.push(...(await attempt(`NodeClaim/${claim.name}`, say)));
  }
}

/** Launches every NodeClaim that has no instance yet, whoever wrote it. */
export async function launchClaims(
  launching: Launching,
  state: ClusterState,
  typesOf: TypesOf,
): Promise<LaunchReport> {
  const { ports, settings, pause } = launching;
  const transient = new Map<string, number>();
  const pass: LaunchPass = { ...launching, launched: [], givenUp: [], changed: [], transient };
  const reported = (postponed: number): LaunchReport => {
    const { launched, givenUp, changed } = pass;
    const again = [...transient.values()].reduce((sum, each) => sum + each, 0);
    return { launched, givenUp, postponed, changed: changed.length, transient: again };
  };
  const nowMs = ports.clock.nowMs();
  const { nodeClaims } = state.objects;
  const isHeld = await pause.isOn();
  const waiting = waitingClaims(nodeClaims).filter((each) => !isHeld || isApproved(each, 'launch'));
  if (waiting.length === 0) return reported(0);
  const halted = haltedPools(await ports.memory.failedRegistrations(), nowMs);
  const due = waiting
    .filter((claim) => !halted.has(claim.labels[NODE_POOL] ?? ''))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, launchesLeft(state, settings, nowMs));
  await recordHeldClaims(launching, waiting, halted, due);
  const postponed = await untilKarpenterIsActive(async () => {
    await setHalted(pass, waiting, halted);
    const subnets: Subnets = new Map();
    const groups = await groupsOf(pass, state, due, { typesOf, subnets });
    const ready = groups.map((group) => placed(group, subnets));
    return await launchGroups(pass, nodeClaims, ready);
  });
  return reported(postponed ?? 0);
}

/** What there is to launch claims as, and where. */
interface Choices {
  readonly typesOf: TypesOf;
  readonly subnets: Subnets;
}

/** The claims for which something can be launched, in groups that one fleet call can launch. */
async function groupsOf(
  pass: LaunchPass,
  state: ClusterState,
  due: readonly NodeClaim[],
  { typesOf, subnets }: Choices,
): Promise<readonly (readonly Launchable[])[]> {
  const { ports, settings, failures } = pass;
  const launchable: Launchable[] = [];
  for (const claim of due) {
    ports.recorder.count('launch_attempts_total', { nodepool: claim.labels[NODE_POOL] ?? '' });
    const choose = async (): Promise<void> => {
      if (claim.unreadable !== undefined) {
        await setLaunchFailed(
          pass,
          claim,
          'Unreadable',
          reason('nodeclaim-unreadable', { fault: claim.unreadable }),
        );
        return;
      }
      const known = await subnetsOf(ports, state, claim, subnets);
      if (known instanceof PortError) {
        await setLaunchFailed(pass, claim, known.code, refusedBecause(known));
        return;
      }
      const item = await prepare(pass, state, claim, typesOf(claim), known.zones());
      if (item !== undefined) launchable.push(item);
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, choose)));
  }
  return groupClaims(
    launchable.map((item) => ({
      ...item,
      same: membershipOf(item.claim)?.token ?? item.same,
    })),
    settings.fleetSizeMax,
  );
}
