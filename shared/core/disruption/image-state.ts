/** Of a node that has the image: what a canary is the first to have. */
export function imageState(nodeClass: string, image: string): string {
  return `EC2NodeClass/${nodeClass} image ${image}`;
}

/** Whether the state is about an image. */
export function isImageState(state: string): boolean {
  return /^EC2NodeClass\/\S+ image \S+$/u.test(state);
}

/**
 * Whether new nodes get the image of one that is ready while these states have failed: of one with
 * the same spec of the class, so not where that is new as well.
 */
export function hasProvenImage(states: readonly string[]): boolean {
  return (
    states.some(isImageState) && !states.some((each) => /^EC2NodeClass\/\S+ spec /u.test(each))
  );
}
