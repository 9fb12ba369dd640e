/** Of a node that has the image: what a canary is the first to have. */
export function imageState(nodeClass: string, image: string): string {
  return `EC2NodeClass/${nodeClass} image ${image}`;
}

/** Whether the state is about an image. */
export function isImageState(state: string): boolean {
  return /^EC2NodeClass\/\S+ image \S+$/u.test(state);
}
