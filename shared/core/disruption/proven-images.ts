import { imageFinder } from '../launch/launch-request.ts';
import { hasSpecOf } from '../launch/template-hash.ts';
import { isTrue } from '../lifecycle/conditions.ts';
import type { Node } from '../model/cluster.ts';
import { INSTANCE_TYPE } from '../model/labels.ts';
import type { Image, NodeClass } from '../model/node-class.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import { failedCanaries, triedStates } from './canary.ts';
import { imageState } from './image-state.ts';

/** What is known of the nodes that there are. */
interface Known {
  readonly nodePools: readonly NodePool[];
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
}

/**
 * Newest first, the claims whose nodes are ready now and have the class's spec as it is: an image of
 * another family would get user data that is not written for it, and its node would never join.
 */
function readyClaims({ nodeClaims, nodes }: Known, nodeClass: NodeClass): readonly NodeClaim[] {
  const isCurrent = hasSpecOf(nodeClass);
  const ready = new Set(
    nodes.filter((node) => isTrue(node, 'Ready')).map(({ providerId }) => providerId),
  );
  return nodeClaims
    .filter(
      (claim) =>
        claim.nodeClassRef.name === nodeClass.name &&
        claim.imageId !== undefined &&
        isTrue(claim, 'Initialized') &&
        ready.has(claim.providerId) &&
        isCurrent(claim),
    )
    .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.name < b.name ? -1 : 1));
}

/** Whether a node like the claim's is one that the image is meant for. */
function suits(image: Image, { labels }: NodeClaim): boolean {
  const named = Object.entries(labels).map(([key, value]) => [key, [value]] as const);
  const type = { name: labels[INSTANCE_TYPE] ?? '', labels: Object.fromEntries(named) };
  return imageFinder([image])(type) !== undefined;
}

/**
 * The images that the claim may be launched with: those that the class selects, but in the place of
 * one whose first node did not become ready the image of a node that is, where there is one. The
 * claim that is to try such an image again gets it.
 */
export function launchImages(
  claim: NodeClaim,
  nodeClass: NodeClass,
  known: Known,
): readonly Image[] {
  const { name, status } = nodeClass;
  const failed = new Set(
    known.nodePools.flatMap(({ annotations }) => [...failedCanaries(annotations).keys()]),
  );
  if (failed.size === 0) return status.images;
  const tried = new Set(triedStates(claim));
  const isFailed = (id: string): boolean => {
    const state = imageState(name, id);
    return failed.has(state) && !tried.has(state);
  };
  if (!status.images.some(({ id }) => isFailed(id))) return status.images;
  const ready = readyClaims(known, nodeClass);
  return status.images.map((image) => {
    if (!isFailed(image.id)) return image;
    const id = ready.find((each) => !isFailed(each.imageId ?? '') && suits(image, each))?.imageId;
    return id === undefined ? image : { ...image, id, name: undefined };
  });
}

/** Whether the claim has an image that it would not be launched with now: its first node failed. */
export function isOfFailedImage(claim: NodeClaim, nodeClass: NodeClass, known: Known): boolean {
  const hasImage = ({ id }: Image): boolean => id === claim.imageId;
  const { images } = nodeClass.status;
  return images.some(hasImage) && !launchImages(claim, nodeClass, known).some(hasImage);
}
