import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { ObjectRef, PauseScope } from '../../../shared/ports.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { Invocation } from './awaits.ts';
import { type CheckerSettings, TOLERANCE_MS } from './checker-settings.ts';
import { spanOf } from './cluster-pauses.ts';

/** What does not happen while the cluster is paused. */
export class PauseSafety {
  private readonly settings: CheckerSettings;

  constructor(settings: CheckerSettings) {
    this.settings = settings;
  }

  onWrite(by: Invocation, call: string, ref: ObjectRef | undefined): void {
    if (call === 'launch' || call === 'createNodeClaim') this.check('launch', by, call);
    if (call === 'terminate') this.check('terminate', by, call);
    // EC2 takes nodes whatever is paused.
    if (call !== 'delete' || ref?.kind !== 'NodeClaim' || by.function === 'interrupt') return;
    const claim = this.objects.nodeClaims.find(({ name }) => name === ref.name);
    if (claim === undefined || !this.isWell(claim)) return;
    this.check('disrupt', by, `delete of ${claim.name}`);
    if (by.function === 'lifecycle') this.check('launch', by, `delete of ${claim.name}`);
  }

  private check(scope: PauseScope, by: Invocation, what: string): void {
    const { world, setting, onProblem } = this.settings;
    const nowMs = world.timeline.nowMs();
    const isHeld = setting.kinds.pauses
      .filter((each) => each.scope === scope)
      .map(spanOf)
      // Who began before it may have read the ConfigMap as it was.
      .some(
        ({ fromMs, untilMs }) =>
          by.startedMs > fromMs + TOLERANCE_MS && nowMs < untilMs - TOLERANCE_MS,
      );
    if (isHeld) onProblem(`${by.function} ignores the pause of ${scope}: ${what}`);
  }

  /** It stays if nothing but Joiner's own plans ends it: EC2 ends what is in an expiring block. */
  private isWell(claim: NodeClaim): boolean {
    const { world, users } = this.settings;
    const node = this.objects.nodes.find(({ providerId }) => providerId === claim.providerId);
    const machine = world.compute.machines.get(instanceIdOf(claim.providerId) ?? '');
    return (
      isTrue(claim, 'Initialized') &&
      claim.deletedAtMs === undefined &&
      node?.deletedAtMs === undefined &&
      node !== undefined &&
      isTrue(node, 'Ready') &&
      machine?.state === 'running' &&
      !world.compute.reservations.isExpiring(machine.reservationId) &&
      !users.touched.has(claim.name)
    );
  }

  private get objects() {
    return readState(this.settings.world.store).objects;
  }
}
