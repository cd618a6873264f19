package iceberglite.spark.write

import org.apache.spark.sql.SparkSession

/** What we say of ourselves and of the job in the summary of every snapshot. */
object EngineSummary {

  /** Of the connector, as the jar's manifest has it; classes that were only compiled have none. */
  val version: String =
    Option(getClass.getPackage).flatMap(p => Option(p.getImplementationVersion)).getOrElse("unreleased")

  def of(session: SparkSession): Map[String, String] = Map(
    "engine-name" -> "spark",
    "engine-version" -> session.version,
    "iceberg-lite-version" -> version,
    "spark.app.id" -> session.sparkContext.applicationId
  )
}
