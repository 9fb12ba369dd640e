import { describe, expect, it } from 'vitest';
import { blockersSaid } from '../../../headlamp-plugin/src/model/blockers.ts';
import {
  eventsOf,
  explained,
  explainedReason,
  joinerEvents,
  targetOf,
} from '../../../headlamp-plugin/src/model/events.ts';
import { podView } from '../../../headlamp-plugin/src/model/pod-view.ts';
import { reason } from '../../../shared/core/explain/reason.ts';
import { DECISION, REASON_CODE } from '../../../shared/core/model/labels.ts';
import { podOf } from '../../builders/scheduling.ts';

interface Said {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly at?: string;
  readonly code?: string;
  readonly by?: string;
}

/** An Event as `shared/kube/events.ts` writes it. */
function event(said: Said = {}): object {
  const { kind = 'Node', name = 'n', namespace, reason: why = 'DisruptionBlocked', code } = said;
  const { message = 'because', at = '2026-01-01T00:00:00Z', by = 'joiner-disrupt' } = said;
  const annotations = { [DECISION]: 'd', ...(code !== undefined && { [REASON_CODE]: code }) };
  return {
    metadata: { name: 'e', namespace: 'default', annotations },
    involvedObject: { kind, name, namespace },
    type: 'Normal',
    reason: why,
    message,
    source: { component: by },
    reportingComponent: by,
    lastTimestamp: at,
    count: 2,
  };
}

describe('events', () => {
  it('have the meaning and the remedy of their code', () => {
    const [found] = joinerEvents([event({ code: 'node-nominated' })]);
    expect(found).toMatchObject({
      kind: 'Node',
      name: 'n',
      namespace: '',
      count: 2,
      decision: 'd',
    });
    expect(found?.why).toEqual({
      text: 'because',
      meaning: 'A recent plan uses the node for pending pods.',
      remedy: 'Wait a minute.',
    });
    expect(explainedReason(reason('node-nominated', {})).text).toBe(
      'The node is nominated for pending pods',
    );
  });

  it.each(['toString', 'of-another-version', ''])('of the code %j have none', (code) => {
    expect(explained(code, 'a')).toEqual({ text: 'a', meaning: '', remedy: '' });
  });

  it('of others, and what is no event, are left out', () => {
    expect(joinerEvents([event({ by: 'kubelet' }), {}, 7, null])).toEqual([]);
  });

  it('come newest first, and else in the order of what they are about', () => {
    const names = (given: readonly Said[]) =>
      joinerEvents(given.map(event)).map(({ name }) => name);
    const later = '2026-01-01T00:00:01Z';
    const all = [{ name: 'b' }, { name: 'c', at: later }, { name: 'a' }];
    expect(names(all)).toEqual(['c', 'a', 'b']);
    expect(names(all.toReversed())).toEqual(['c', 'a', 'b']);
  });

  it('lead to pages of the kinds that Headlamp has', () => {
    const [node, other] = joinerEvents([event(), event({ kind: 'EC2NodeClass', name: 'z' })]);
    const targets = [node, other].map((each) => each && targetOf(each));
    expect(targets).toContainEqual({ kind: 'Node', name: 'n', namespace: '' });
    expect(targets).toContain(undefined);
  });

  it('say what blocks a node, each thing once', () => {
    const events = joinerEvents([
      event({ reason: 'DisruptionBlocked', message: 'a' }),
      event({ reason: 'DisruptionBlocked', message: 'a', kind: 'NodeClaim' }),
      event({ reason: 'Unconsolidatable', message: 'a' }),
      event({ reason: 'FailedDraining', message: 'b' }),
      event({ reason: 'NodeRepairBlocked', message: 'c' }),
      event({ reason: 'Nominated', message: 'd' }),
    ]);
    expect(
      blockersSaid(events)
        .map(({ hinders, why }) => `${hinders} ${why.text}`)
        .sort(),
    ).toEqual(['consolidation a', 'disruption a', 'drain b', 'repair c']);
  });
});

describe('a pod', () => {
  const waiting = podOf('web');
  const { namespace } = waiting;
  const about = { kind: 'Pod', name: 'web', namespace };
  const shown = (...said: readonly Said[]) =>
    podView(waiting, joinerEvents(said.map((each) => event({ ...about, ...each }))), true);

  it('that is nominated waits for its node', () => {
    const view = shown(
      {
        reason: 'Nominated',
        message: 'Pod should schedule on: node/n',
        at: '2026-01-02T00:00:00Z',
      },
      { reason: 'FailedScheduling', message: 'Failed to schedule pod, a' },
    );
    expect(view).toMatchObject({
      look: 'success',
      summary: 'Pod should schedule on: node/n',
      obstacles: [],
      why: undefined,
    });
    expect(view?.events).toHaveLength(2);
  });

  it('has its obstacles one by one', () => {
    const view = shown({ reason: 'FailedScheduling', message: 'Failed to schedule pod, a; b' });
    expect(view).toMatchObject({ look: 'warning', obstacles: ['a', 'b'] });
  });

  it('without an event says who has to act', () => {
    expect(shown()?.summary).toContain('Joiner has written no Event');
    const early = podView({ ...waiting, unschedulable: false }, [], true);
    expect(early?.summary).toContain('kube-scheduler has not marked the pod');
  });

  it('has no events of a pod of the name elsewhere', () => {
    expect(shown({ namespace: 'elsewhere' })?.events).toEqual([]);
    expect(eventsOf([], 'Pod', undefined)).toEqual([]);
  });

  it('on a node, or over, has no panel', () => {
    expect(podView({ ...waiting, nodeName: 'n' }, [], true)).toBeUndefined();
    expect(podView({ ...waiting, phase: 'Failed' }, [], true)).toBeUndefined();
  });
});
