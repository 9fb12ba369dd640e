/**
 * The anchor of a heading as GitHub makes it, so that one link works there and on the site.
 * Headings of equal text get `-1`, `-2` … in both.
 */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}
