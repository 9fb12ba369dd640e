/** The script of a page: it draws with what has drawn the page, from the data in it. */
import { pricesIn } from '../draw/text.ts';
import { Details } from './details.ts';
import { byId, pageModel } from './elements.ts';
import { roving } from './keys.ts';
import { followLinks } from './links.ts';
import { PictureView } from './picture-view.ts';
import { scrub } from './scrub.ts';

const model = pageModel();
const prices = pricesIn(model.currency);
// Pages of prices alone have no picture.
if (model.scenes.length > 0) {
  const details = new Details(byId('detail'));
  const view = new PictureView(model, prices, details);
  view.listen();
  const { history } = model;
  const go = history === null ? undefined : scrub(model, history, view, details, prices);
  followLinks(model, view, go);
  view.introduce();
}
roving(document.body);
