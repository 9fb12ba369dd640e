import type { NodeOverlay } from '../model/provisioning.ts';
import type { OverlayReport } from './resolve.ts';

/** What is worth knowing of an overlay that is ready; undefined = it simply works. */
export function overlayRemark(
  { isDead, shadowed }: Pick<OverlayReport, 'isDead' | 'shadowed'>,
  overlay: Pick<NodeOverlay, 'priceChange' | 'capacity'>,
): string | undefined {
  if (overlay.priceChange === undefined && Object.keys(overlay.capacity).length === 0) {
    return 'without effect: it sets neither a price nor a capacity';
  }
  if (isDead) return 'dead: it matches no instance type of any NodePool';
  if (shadowed.length === 0) return undefined;
  const fields = shadowed.map(({ field, by }) => `${field} (by ${by.join(', ')})`);
  return `shadowed everywhere by heavier overlays: ${fields.join('; ')}`;
}
