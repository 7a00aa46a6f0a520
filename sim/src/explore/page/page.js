'use strict';

// The path is in the address (`#/3/1`: choice 3, then choice 1), so that it can be bookmarked and sent to somebody.
const pathOf = () => location.hash.replace(/^#\//, '').split('/').filter((choice) => choice !== '');
const addressOf = (path) => '#/' + path.join('/');
const byId = (id) => document.getElementById(id);

function item(text, address, isHere) {
  const entry = document.createElement('li');
  const link = document.createElement('a');
  link.textContent = text;
  link.href = address;
  if (isHere) entry.className = 'here';
  entry.append(link);
  return entry;
}

function paragraph(text, name) {
  const entry = document.createElement('p');
  entry.textContent = text;
  entry.className = name;
  return entry;
}

async function show() {
  const path = pathOf();
  const answer = await fetch(['/path', ...path].join('/'));
  // The reader may have gone on meanwhile.
  if (addressOf(pathOf()) !== addressOf(path)) return;
  if (!answer.ok) {
    const why = answer.status === 404 ? 'This path does not exist in this scenario.' : await answer.text();
    byId('happened').replaceChildren(paragraph(why, 'broken'));
    for (const id of ['choices', 'steps', 'state', 'picture']) byId(id).replaceChildren();
    return;
  }
  const end = await answer.json();
  const choices = end.choices.map((says, choice) => item(says, addressOf([...path, choice])));
  byId('choices').replaceChildren(...choices);
  const steps = end.steps.map((says, step) => item(says, addressOf(path.slice(0, step + 1)), step + 1 === path.length));
  byId('steps').replaceChildren(item('the first state', addressOf([]), path.length === 0), ...steps);
  const happened = end.happened.map((says) => paragraph(says, ''));
  const broken = end.broken.map((says) => paragraph('Broken: ' + says, 'broken'));
  byId('happened').replaceChildren(...happened, ...broken);
  byId('state').textContent = end.state;
  // The server escapes every text in a picture.
  byId('picture').innerHTML = end.picture;
}

// The verdicts come once the search has ended.
async function awaitVerdicts() {
  while (document.querySelector('[data-checked="no"]')) {
    await new Promise((done) => setTimeout(done, 500));
    const answer = await fetch('/verdicts');
    byId('verdicts').innerHTML = await answer.text();
  }
  // Only now is it known which paths are counterexamples of liveness.
  show();
}

addEventListener('hashchange', show);
show();
if (document.querySelector('[data-checked="no"]')) awaitVerdicts();
