package iceberglite.spark.conf

import java.util.Locale

import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.SparkSession

import iceberglite.spec.file.ManifestContent
import iceberglite.spec.property.Declarations
import iceberglite.table.{KnownProperties, KnownProperty}

/** Where the manifests of a scan are read. */
sealed abstract class PlanningMode(val name: String) extends Serializable

object PlanningMode {

  /**
   * In a Spark job if the manifests are large and the cluster has more cores than the driver; otherwise on the driver.
   */
  case object Auto extends PlanningMode("auto")

  /** On the driver. */
  case object Local extends PlanningMode("local")

  /** In a Spark job. */
  case object Distributed extends PlanningMode("distributed")

  val all: Seq[PlanningMode] = Seq(Auto, Local, Distributed)

  def parse(text: String): Option[PlanningMode] = all.find(_.name == text.toLowerCase(Locale.ROOT))
}

/** The options that select where manifests are read. */
object PlanningOptions {
  private val declared = new Declarations[SparkOption[_]]

  val DataMode: SparkOption[PlanningMode] =
    declared(mode("data-planning-mode", KnownProperties.DataPlanning))

  val DeleteMode: SparkOption[PlanningMode] =
    declared(mode("delete-planning-mode", KnownProperties.DeletePlanning))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  private def mode(key: String, property: KnownProperty): SparkOption[PlanningMode] = SparkOption
    .derived(key, "It must be auto, local or distributed", property.doc, PlanningMode.Auto.name)(PlanningMode.parse)
    .inSession(s"spark.sql.iceberg.$key")
    .inTable(property.key)
}

/** Where the manifests of one scan are read. */
final case class PlanningModes(data: PlanningMode, deletes: PlanningMode) {
  def of(content: ManifestContent): PlanningMode = content match {
    case ManifestContent.Data => data
    case ManifestContent.Deletes => deletes
  }
}

object PlanningModes {

  /** Returns the modes of a scan. @throws iceberglite.spec.IcebergError.InvalidArgument if a value is invalid */
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): PlanningModes = {
    val settings = Settings.of(options, session, properties)
    PlanningModes(
      PlanningOptions.DataMode.get(settings).getOrElse(PlanningMode.Auto),
      PlanningOptions.DeleteMode.get(settings).getOrElse(PlanningMode.Auto)
    )
  }
}
