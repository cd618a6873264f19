package iceberglite.table

import java.util

import iceberglite.spec.rest.MetricsReport

/**
 * Receives the metrics of scans and commits of a catalog's tables. The catalog property `metrics-reporter-impl` names a
 * class that implements this trait and has a constructor without parameters.
 */
trait MetricsReporter {

  /** Called once before the first report. @param properties the properties of the catalog */
  def initialize(properties: util.Map[String, String]): Unit

  /**
   * Called on a background thread of the catalog. An exception or error in this method is logged, and does not affect
   * the scan or commit.
   */
  def report(report: MetricsReport): Unit
}
