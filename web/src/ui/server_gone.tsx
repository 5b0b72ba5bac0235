// The line that says that the server does not answer, for as long as that is so.
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSpeech } from '../i18n/i18n';
import { startHeartbeat, useServerGone } from '../state/connection';

export function ServerGone() {
  const { t } = useSpeech();
  const queries = useQueryClient();
  const gone = useServerGone();
  const was = useRef(false);
  useEffect(startHeartbeat, []);
  useEffect(() => {
    // Another server may have come back, with other sweeps: everything on screen is asked for again.
    if (was.current && !gone) void queries.invalidateQueries();
    was.current = gone;
  }, [gone, queries]);
  return (
    <div className="server-gone-place">
      {gone && <p className="server-gone" role="alert"><strong>{t('gone.title')}</strong> {t('gone.text')}</p>}
    </div>
  );
}
