// The shell: header, navigation, and the page that the address names.
import { useEffect } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { useVersion } from './api/queries';
import mark from './mark.svg';
import { useSpeech, type Key, type Language } from './i18n/i18n';
import { BestPage } from './pages/best';
import { BestSearchPage } from './pages/best_search';
import { ComparePage } from './pages/compare';
import { HelpPage } from './pages/help';
import { ModelsPage } from './pages/models';
import { NewSweepPage } from './pages/new_sweep';
import { PointPage } from './pages/point';
import { FrontValidationPage } from './pages/front_validation';
import { FrontsPage } from './pages/fronts';
import { ResultsPage } from './pages/results';
import { ScreenPage } from './pages/screen';
import { ValidatePage } from './pages/validate';
import { ValidationPage } from './pages/validation';
import { WhatIfPage } from './pages/what_if';
import { useTheme, type Theme } from './state/theme';
import { Empty, Segments } from './ui/basics';
import { ServerGone } from './ui/server_gone';

const places: { path: string; key: Key; within: RegExp }[] = [
  { path: '/', key: 'nav.results', within: /^\/($|sweeps|fronts)/ },
  { path: '/models', key: 'nav.models', within: /^\/models/ },
  { path: '/new', key: 'nav.new', within: /^\/new/ },
  { path: '/best', key: 'nav.best', within: /^\/best/ },
  { path: '/screen', key: 'nav.screen', within: /^\/screen/ },
  { path: '/what-if', key: 'nav.what_if', within: /^\/what-if/ },
  { path: '/compare', key: 'nav.compare', within: /^\/compare/ },
  { path: '/validate', key: 'nav.validate', within: /^\/validat/ },
  { path: '/help', key: 'nav.help', within: /^\/help/ },
];

export function App() {
  const { t } = useSpeech();
  const [path] = useLocation();
  useEffect(() => {
    const place = places.find((one) => one.within.test(path));
    document.title = place ? `${t(place.key)} · SDIP Explorer` : 'SDIP Explorer';
  }, [path, t]);
  return (
    <>
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>
        {t('nav.skip')}
      </a>
      <Header path={path} />
      <ServerGone />
      <main id="main" tabIndex={-1}>
        <Switch>
          <Route path="/"><ResultsPage id={null} /></Route>
          <Route path="/sweeps/:id">{({ id }) => <ResultsPage key={id} id={Number(id)} />}</Route>
          <Route path="/sweeps/:id/points/:index">
            {({ id, index }) => <PointPage key={`${id}/${index}`} id={Number(id)} index={Number(index)} />}
          </Route>
          <Route path="/fronts" component={FrontsPage} />
          <Route path="/models"><ModelsPage name={null} /></Route>
          <Route path="/models/:name">{({ name }) => <ModelsPage name={name} />}</Route>
          <Route path="/new" component={NewSweepPage} />
          <Route path="/best" component={BestPage} />
          <Route path="/best/:id">{({ id }) => <BestSearchPage key={id} id={Number(id)} />}</Route>
          <Route path="/screen" component={ScreenPage} />
          <Route path="/what-if" component={WhatIfPage} />
          <Route path="/compare" component={ComparePage} />
          <Route path="/sweeps/:id/validation">{({ id }) => <FrontValidationPage key={id} id={Number(id)} />}</Route>
          <Route path="/validate" component={ValidatePage} />
          <Route path="/validations/:id">{({ id }) => <ValidationPage key={id} id={Number(id)} />}</Route>
          <Route path="/help" component={HelpPage} />
          <Route><Empty title={t('error.no_page')}><Link href="/">{t('nav.results')}</Link></Empty></Route>
        </Switch>
      </main>
    </>
  );
}

function Header({ path }: { path: string }) {
  const { t, language, setLanguage } = useSpeech();
  const [theme, setTheme] = useTheme();
  const version = useVersion();
  return (
    <header className="top">
      <Link href="/" className="brand">
        <img src={mark} alt="" width="26" height="26" />
        <span>SDIP Explorer</span>
        {version.data && <small>{version.data.version}</small>}
      </Link>
      <nav aria-label={t('nav.label')}>
        {places.map((place) => (
          <Link key={place.path} href={place.path} aria-current={place.within.test(path) ? 'page' : undefined}>
            {t(place.key)}
          </Link>
        ))}
      </nav>
      <div className="top-tools">
        <Segments
          label={t('theme.label')} value={theme} onChange={(id) => setTheme(id as Theme)}
          items={[{ id: 'light', label: t('theme.light') }, { id: 'auto', label: t('theme.auto') }, { id: 'dark', label: t('theme.dark') }]}
        />
        <Segments
          label={t('language.label')} value={language} onChange={(id) => setLanguage(id as Language)}
          items={[{ id: 'en', label: 'EN' }, { id: 'ja', label: '日本語' }]}
        />
      </div>
    </header>
  );
}
