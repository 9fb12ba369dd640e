import { describe, expect, it } from 'vitest';
import { decideClaim } from '../../../shared/core/lifecycle/claim.ts';
import type { Labels } from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { aNode, aNodeClaim } from '../launch/builders.ts';

const MINUTE = 60_000;
const yes = { status: 'True', reason: '', message: '', lastTransitionAtMs: 0 } as const;
const ready: Partial<NodeClaim> = {
  providerId: 'aws:///us-east-1a/i-0123456789abcdef0',
  conditions: ['Launched', 'Registered', 'Initialized'].map((type) => ({ type, ...yes })),
};

describe('a claim whose node is open', () => {
  const PLANNED = 'joiner.dev/planned-pods';
  const TAGGED = 'karpenter.k8s.aws/tagged';
  const annotationsOf = (annotations: Labels, isAwaited: boolean) => {
    const claim = aNodeClaim({ ...ready, annotations });
    const { actions } = decideClaim(claim, {
      nowMs: MINUTE,
      nodes: [aNode()],
      pods: [],
      awaiting: [],
      isAwaited,
      instance: 'present',
      blockingAttachments: [],
    });
    return actions.flatMap((each) =>
      each.kind === 'annotate' || each.kind === 'tag' ? [each.annotations] : [],
    );
  };

  it.each<[string, Labels, boolean, readonly object[]]>([
    ['names its pods while one waits', { [PLANNED]: 'a' }, true, [{ [TAGGED]: 'true' }]],
    [
      'forgets them with the write that it is tagged by',
      { [PLANNED]: 'a' },
      false,
      [{ [TAGGED]: 'true', [PLANNED]: null }],
    ],
    [
      'forgets them later where one had to wait',
      { [PLANNED]: 'a', [TAGGED]: 'true' },
      false,
      [{ [PLANNED]: null }],
    ],
    ['has nothing more to forget', { [TAGGED]: 'true' }, false, []],
  ])('%s', (_, annotations, isAwaited, expected) => {
    expect(annotationsOf(annotations, isAwaited)).toEqual(expected);
  });
});
