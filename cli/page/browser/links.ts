import type { PageModel } from '../model/model.ts';
import { isAlive } from '../model/moment.ts';
import { around } from './elements.ts';
import type { PictureView } from './picture-view.ts';
import type { Go } from './scrub.ts';

/** A moment at which the node is there; undefined: there is no such node. */
function momentOf({ scenes: [scene] }: PageModel, name: string): number | undefined {
  const node = scene?.nodes.find((each) => each.name === name);
  if (node?.life === undefined || node.life === null) return undefined;
  const { ready, launched } = node.life;
  const at = Math.ceil(ready ?? launched);
  return isAlive(node, at) ? at : launched;
}

/** Names of nodes in tables lead to their rows, at a time at which they are there. */
export function followLinks(model: PageModel, view: PictureView, go: Go | undefined): void {
  document.body.addEventListener('click', (event) => {
    const name = around(event, 'a[data-node]')?.dataset['node'];
    if (name === undefined) return;
    const at = momentOf(model, name);
    if (!view.reveal(name) && at !== undefined) {
      go?.(at);
      view.reveal(name);
    }
    event.preventDefault();
  });
}
