import { describe, expect, it } from 'vitest';
import { triesText } from '../../../shared/core/disruption/canary.ts';
import { imageState } from '../../../shared/core/disruption/image-state.ts';
import { isOfFailedImage, launchImages } from '../../../shared/core/disruption/proven-images.ts';
import { nodeClassHash } from '../../../shared/core/launch/template-hash.ts';
import { FAILED_CANARIES, NODE_CLASS_HASH, TRIES } from '../../../shared/core/model/labels.ts';
import type { Image } from '../../../shared/core/model/node-class.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { aNodeClass } from '../../builders/launches.ts';
import { claimOf, nodeOf, poolOf, yes } from '../../builders/scheduling.ts';

const ARCH = 'kubernetes.io/arch';

function image(id: string, arch: string): Image {
  const requirements = [{ key: ARCH, operator: 'In' as const, values: [arch] }];
  return { id, name: id, deprecated: false, requirements };
}

const plain = aNodeClass();
const nodeClass = {
  ...plain,
  status: { ...plain.status, images: [image('ami-new', 'amd64'), image('ami-arm', 'arm64')] },
};

function ready(name: string, imageId: string, arch = 'amd64', createdAtMs = 1): NodeClaim {
  return claimOf(name, {
    createdAtMs,
    imageId,
    labels: { [ARCH]: arch },
    nodeClassRef: { ...claimOf('x').nodeClassRef, name: plain.name },
    providerId: `aws:///zone-a/${name}`,
    conditions: yes('Launched', 'Registered', 'Initialized'),
  });
}

const other = { ...claimOf('x').nodeClassRef, name: 'other' };

function failing(...ids: readonly string[]) {
  const times = ids.map((id) => [imageState(plain.name, id), '2026-01-01T00:00:00.000Z']);
  const annotations = { [FAILED_CANARIES]: JSON.stringify(Object.fromEntries(times)) };
  return { ...poolOf('general'), annotations };
}

function launched(
  claims: readonly NodeClaim[],
  failed: readonly string[] = ['ami-new'],
  claim = claimOf('waits'),
) {
  const nodes = claims.map(({ name }) => ({ ...nodeOf(name, 4, 16), conditions: yes('Ready') }));
  const known = { nodePools: [failing(...failed)], nodeClaims: claims, nodes };
  return launchImages(claim, nodeClass, known).map(({ id }) => id);
}

describe('the images of a launch', () => {
  it('are those of the class where none has failed', () => {
    expect(launched([ready('a', 'ami-old')], [])).toEqual(['ami-new', 'ami-arm']);
  });

  it('are, for one that has failed, the one of the newest node of its kind that is ready', () => {
    const claims = [
      ready('a', 'ami-old'),
      ready('b', 'ami-later', 'amd64', 5),
      ready('c', 'ami-other', 'arm64', 9),
    ];
    expect(launched(claims)).toEqual(['ami-later', 'ami-arm']);
  });

  it('stay where no node shows what works', () => {
    expect(launched([])).toEqual(['ami-new', 'ami-arm']);
    expect(launched([ready('a', 'ami-old', 'arm64')])).toEqual(['ami-new', 'ami-arm']);
    expect(launched([{ ...ready('a', 'ami-old'), conditions: [] }])).toEqual([
      'ami-new',
      'ami-arm',
    ]);
  });

  it('are not those of nodes with another spec: user data is written for a family', () => {
    const old = { ...ready('a', 'ami-old'), annotations: { [NODE_CLASS_HASH]: 'bottlerocket' } };
    expect(launched([old])).toEqual(['ami-new', 'ami-arm']);
    const annotations = { [NODE_CLASS_HASH]: nodeClassHash(nodeClass) };
    const same = { ...ready('b', 'ami-same'), annotations };
    expect(launched([old, same])).toEqual(['ami-same', 'ami-arm']);
  });

  it('are, of nodes of one age, those of the first by name', () => {
    const claims = ['c', 'a', 'b'].map((name) => ready(name, `ami-${name}`));
    expect(launched(claims)).toEqual(['ami-a', 'ami-arm']);
  });

  it.each<[string, (newest: NodeClaim) => NodeClaim]>([
    ['of another class', (newest) => ({ ...newest, nodeClassRef: other })],
    ['whose image is not known', (newest) => ({ ...newest, imageId: undefined })],
    ['that starts', (newest) => ({ ...newest, conditions: yes('Launched', 'Registered') })],
    ['without a node', (newest) => ({ ...newest, providerId: 'aws:///zone-a/gone' })],
  ])('are not those of a claim %s', (_, changed) => {
    const claims = [ready('a', 'ami-old'), changed(ready('b', 'ami-later', 'amd64', 5))];
    expect(launched(claims)).toEqual(['ami-old', 'ami-arm']);
  });

  it('are, for one that is meant for a type, those of a node of that type', () => {
    const key = 'node.kubernetes.io/instance-type';
    const requirements = [{ key, operator: 'In' as const, values: ['g.large'] }];
    const images = [{ ...image('ami-new', 'amd64'), requirements }];
    const ofType = (name: string, type: string, createdAtMs: number): NodeClaim => ({
      ...ready(name, `ami-${name}`, 'amd64', createdAtMs),
      labels: { [ARCH]: 'amd64', [key]: type },
    });
    const nodeClaims = [ofType('a', 'g.large', 1), ofType('b', 'm.large', 2)];
    const nodes = nodeClaims.map(({ name }) => ({
      ...nodeOf(name, 4, 16),
      conditions: yes('Ready'),
    }));
    const known = { nodePools: [failing('ami-new')], nodeClaims, nodes };
    const found = launchImages(
      claimOf('waits'),
      { ...nodeClass, status: { ...nodeClass.status, images } },
      known,
    );
    expect(found.map(({ id }) => id)).toEqual(['ami-a']);
  });

  it('are not those of a node that is not ready', () => {
    const claims = [ready('a', 'ami-old'), ready('b', 'ami-later', 'amd64', 5)];
    const nodes = claims.map(({ name }) => ({
      ...nodeOf(name, 4, 16),
      conditions: name === 'a' ? yes('Ready') : [],
    }));
    const known = { nodePools: [failing('ami-new')], nodeClaims: claims, nodes };
    const images = launchImages(claimOf('waits'), nodeClass, known);
    expect(images.map(({ id }) => id)).toEqual(['ami-old', 'ami-arm']);
    expect(images[0]?.name).toBeUndefined();
  });

  it('are never another one that has failed', () => {
    const claims = [ready('a', 'ami-old'), ready('b', 'ami-worse', 'amd64', 5)];
    expect(launched(claims, ['ami-new', 'ami-worse'])).toEqual(['ami-old', 'ami-arm']);
  });

  it('are the new ones for the claim that tries them', () => {
    const annotations = { [TRIES]: triesText([imageState(plain.name, 'ami-new')]) };
    const nodeClassRef = { ...claimOf('x').nodeClassRef, name: plain.name };
    const canary = claimOf('canary', { annotations, nodeClassRef });
    expect(launched([ready('a', 'ami-old')], ['ami-new'], canary)).toEqual(['ami-new', 'ami-arm']);
  });
});

describe('a node that has not joined has an image whose canary failed', () => {
  const old = ready('a', 'ami-old');
  const joining = { ...ready('b', 'ami-new'), conditions: yes('Launched') };
  const known = (claims: readonly NodeClaim[], ...failed: readonly string[]) => ({
    nodePools: [failing(...failed)],
    nodeClaims: claims,
    nodes: claims.map(({ name }) => ({ ...nodeOf(name, 4, 16), conditions: yes('Ready') })),
  });
  const tries = { [TRIES]: triesText([imageState(plain.name, 'ami-new')]) };

  it.each<readonly [string, NodeClaim, ReturnType<typeof known>, boolean]>([
    ['where another image is proven', joining, known([old], 'ami-new'), true],
    ['not where none is', joining, known([], 'ami-new'), false],
    ['not while the canary starts', joining, known([old]), false],
    ['not the canary itself', { ...joining, annotations: tries }, known([old], 'ami-new'), false],
    ['not where the class selects another', old, known([old], 'ami-old'), false],
    ['not without an instance', claimOf('c'), known([old], 'ami-new'), false],
  ])('%s', (_, claim, objects, expected) => {
    expect(isOfFailedImage(claim, nodeClass, objects)).toBe(expected);
  });
});
