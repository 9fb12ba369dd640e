import { describe, expect, it } from 'vitest';
import { escaped } from '../../cli/page/draw/markup.ts';
import { dashboardWidgets } from '../../scripts/docs/dashboard/body.ts';
import { dashboardDrawing, groupedLabels, wordsOf } from '../../scripts/docs/dashboard/drawing.ts';

const drawing = dashboardDrawing();
const texts = [...drawing.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, words = '']) => words);

describe('the drawing of the dashboard', () => {
  it('has the words of Markdown, not its marks', () => {
    expect(wordsOf('`joiner top`: *see* [Errors](https://a.b/c#d), [A](x).')).toBe(
      'joiner top: see Errors, A.',
    );
    expect(texts.filter((words) => /\]\(|https?:|[`*]/.test(words))).toEqual([]);
    expect(texts.join()).toContain('Runbook: OldestPending.');
  });

  it('names every line of every graph', () => {
    const all = dashboardWidgets().flatMap((widget) =>
      widget.type === 'graph'
        ? [widget.lines.filter(({ isHidden }) => !isHidden).map(({ label }) => label)]
        : [],
    );
    expect(all.flat().length).toBeGreaterThan(30);
    // What more lines than colours are called is text, broken between words.
    const inWords = texts.join(' ');
    for (const labels of all) {
      const named = labels.length <= 6 ? labels : groupedLabels(labels);
      expect(named.filter((label) => !inWords.includes(escaped(label)))).toEqual([]);
    }
    expect(texts.filter((words) => /^\+\d+$/.test(words))).toEqual([]);
  });

  it('groups what many lines are called', () => {
    expect(groupedLabels(['a: errors', 'a: throttles', 'b: errors'])).toEqual([
      'errors: a, b',
      'throttles: a',
    ]);
  });
});
