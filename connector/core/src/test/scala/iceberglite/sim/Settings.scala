package iceberglite.sim

import scala.util.Random

import iceberglite.spec.FormatVersion

/**
 * The parameters of a history, all determined by the seed.
 *
 * @param operations number of operations per writer
 * @param stay probability that the same writer makes the next call without a random choice of the writer, 0 to 1
 * @param rate probability that a call has a fault, 0 to 1
 * @param properties table properties
 */
final case class Settings(
    seed: Long,
    catalog: SimulatedCatalog.Family,
    version: FormatVersion,
    writers: Int,
    operations: Int,
    stay: Double,
    rate: Double,
    properties: Map[String, String]
) {

  /** Whether the metadata log is long enough to contain every earlier version of the table. */
  def keepsLog: Boolean = properties.get("write.metadata.previous-versions-max").forall(_ == "100")

  override def toString: String =
    s"seed $seed: $writers writers with $operations operations each on a table of version " +
      s"$version in the catalog ${catalog.name}; stay $stay, rate $rate, ${properties.toVector.sorted.mkString(", ")}"
}

object Settings {
  def of(seed: Long): Settings = {
    val random = new Random(seed * 0x9e3779b97f4a7c15L)
    def choose[A](items: A*): A = items(random.nextInt(items.size))
    val settings = Settings(
      seed,
      choose(SimulatedCatalog.all: _*),
      choose(FormatVersion.V1, FormatVersion.V2, FormatVersion.V2, FormatVersion.V3, FormatVersion.V3),
      2 + random.nextInt(7),
      1 + random.nextInt(5),
      choose(0.0, 0.5, 0.8, 0.95),
      choose(0.0, 0.0, 0.005, 0.02, 0.06),
      Map(
        "commit.retry.num-retries" -> choose("4", "50"),
        "commit.retry.min-wait-ms" -> "10",
        "commit.retry.max-wait-ms" -> choose("10", "1000"),
        "commit.manifest.min-count-to-merge" -> choose("2", "3", "100"),
        "commit.manifest-merge.enabled" -> choose("true", "true", "false"),
        "commit.status-check.num-retries" -> choose("1", "3"),
        "commit.status-check.min-wait-ms" -> "10",
        "write.metadata.previous-versions-max" -> choose("1", "3", "100"),
        "write.metadata.delete-after-commit.enabled" -> choose("false", "true")
      )
    )
    // The settings of version 4 are chosen last, so that they do not change the settings of other versions for a seed.
    if (random.nextInt(4) > 0) settings
    else {
      val small = random.nextBoolean()
      def limit(most: Int) = if (small) (1 + random.nextInt(most)).toString else "64"
      settings.copy(
        version = FormatVersion.V4,
        properties = settings.properties ++ Map(
          "write.v4.single-commit-max-files" -> limit(3),
          "write.v4.root.max-data-files" -> limit(4),
          "write.v4.root.max-delete-entries" -> limit(4)
        )
      )
    }
  }
}
