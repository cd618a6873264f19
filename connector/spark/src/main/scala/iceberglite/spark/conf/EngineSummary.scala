package iceberglite.spark.conf

import org.apache.spark.sql.SparkSession

/** The entries about Spark, the connector and the application in the summary of new snapshots. */
object EngineSummary {

  /** The version of the connector in the jar's manifest. It is `unreleased` if the classes are not in a jar. */
  val version: String =
    Option(getClass.getPackage).flatMap(p => Option(p.getImplementationVersion)).getOrElse("unreleased")

  /** The key of the id of the Spark application. */
  val ApplicationId = "spark.app.id"

  def of(session: SparkSession): Map[String, String] = Map(
    "engine-name" -> "spark",
    "engine-version" -> session.version,
    "iceberg-lite-version" -> version,
    ApplicationId -> session.sparkContext.applicationId
  )
}
