package iceberglite.spec.property

/** The distribution of the rows of a write over the tasks of the write. @param name the name in table properties */
sealed abstract class DistributionMode(val name: String) extends Serializable {
  override def toString: String = name
}

object DistributionMode {
  case object NoDistribution extends DistributionMode("none")
  case object Hash extends DistributionMode("hash")
  case object Range extends DistributionMode("range")
  val all: Seq[DistributionMode] = Seq(NoDistribution, Hash, Range)

  def parse(name: String): Option[DistributionMode] = all.find(_.name.equalsIgnoreCase(name.trim))
}
