"""Studies that collect reports over HTTP: from a questionnaire's file to estimates, losing nothing, linking nobody.

What is promised, and where it is kept:

* Acknowledged means on disk. One writer commits what has arrived as one transaction and answers afterwards
  (`extremal.collect.writing`).
* An upload has an id that the device drew. The same upload again changes nothing; another content under the same id is
  refused.
* The store holds, for every person, a random id, the day and the reports, and nothing else: no address, no time, no
  order of arrival once it is settled (`extremal.collect.store`), no link from an invitation to a report.
* The collector never sees an answer: `randomiser.js` decides the questionnaire's promise on the device and draws there.

Everything here needs `pip install 'extremal[collect]'`.
"""
