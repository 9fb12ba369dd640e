import type { Labels } from '../../model/labels.ts';

function labelText(key: string, value: string): string {
  return `${key}=${value}`;
}

/**
 * What asks for pods by their labels, found by one label that each asks for: of thousands few have
 * to be looked at for a pod.
 */
export class LabelIndex<Item> {
  private readonly byLabel = new Map<string, Item[]>();
  private readonly others: Item[] = [];

  /** `label`: without it no pod is meant; undefined: there is none. */
  add(item: Item, label: readonly [key: string, value: string] | undefined): void {
    if (label === undefined) {
      this.others.push(item);
      return;
    }
    const text = labelText(...label);
    const same = this.byLabel.get(text);
    if (same === undefined) this.byLabel.set(text, [item]);
    else same.push(item);
  }

  /** Those that may mean a pod with these labels. */
  of(labels: Labels): readonly Item[] {
    const named = Object.entries(labels).flatMap(
      ([key, value]) => this.byLabel.get(labelText(key, value)) ?? [],
    );
    return [...named, ...this.others];
  }
}
