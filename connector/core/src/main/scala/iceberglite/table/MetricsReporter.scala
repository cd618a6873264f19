package iceberglite.table

import java.util

import iceberglite.spec.rest.MetricsReport

/**
 * Receives the metrics of scans and commits of a catalog's tables. The catalog property `metrics-reporter-impl` names a
 * class that implements this trait and has a constructor without parameters. The methods are called on a background
 * thread of the catalog, except `initialize`. An exception or error in `report` is logged and does not affect the
 * statement.
 */
trait MetricsReporter {

  /** Called once before the first report. @param properties the properties of the catalog */
  def initialize(properties: util.Map[String, String]): Unit

  def report(report: MetricsReport): Unit
}
