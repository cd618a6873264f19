package iceberglite.sim

import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Bucket, UnboundSortField}
import iceberglite.spec.types.Type.LongType
import iceberglite.table.Action
import iceberglite.table.action.{
  FastAppend,
  UpdateProperties,
  UpdateSchema,
  UpdateSortOrder,
  UpdateSpec,
  UpgradeVersion
}

/** Operations that change no rows. */
object MetadataWork {

  /** The property with the operation number, for versions without any other mark of their operation. */
  val Marker = "operation"

  def marker(desk: Desk): Action = new UpdateProperties(Map(Marker -> desk.operation.toString))

  private object SetProperty extends Work {
    override def name: String = "set a property"
    override def plan(desk: Desk): Option[Plan] = {
      val key = s"p_${desk.operation}"
      Some(Plan(Vector(new UpdateProperties(Map(key -> "set"))), shows = _.properties.contains(key)))
    }
  }

  private object RemoveProperty extends Work {
    override def name: String = "remove a property"
    override def plan(desk: Desk): Option[Plan] =
      desk.oneOf(desk.metadata.properties.keys.filter(_.startsWith("p_")).toVector.sorted).map { key =>
        val action = new UpdateProperties(Map(Marker -> desk.operation.toString), Set(key))
        Plan(Vector(action), shows = m => !m.properties.contains(key))
      }
  }

  private object AddColumn extends Work {
    override def name: String = "add a column"
    override def plan(desk: Desk): Option[Plan] = {
      val column = s"c_${desk.operation}"
      val action = new UpdateSchema(_.addColumn(Vector.empty, column, LongType, None))
      Some(Plan(Vector(action), shows = _.schema.find(column).isDefined))
    }
  }

  private object DropColumn extends Work {
    override def name: String = "drop a column"
    override def plan(desk: Desk): Option[Plan] =
      desk.oneOf(desk.metadata.schema.fields.map(_.name).filter(_.startsWith("c_"))).map { column =>
        val action = new UpdateSchema(_.dropColumn(Vector(column)))
        Plan(Vector(action, marker(desk)), shows = _.schema.find(column).isEmpty)
      }
  }

  /** Adds a column and rows in one commit. */
  private object AddColumnAndRows extends Work {
    override def name: String = "add a column and rows"
    override def plan(desk: Desk): Option[Plan] = {
      val column = s"c_${desk.operation}"
      val files = desk.newFiles()
      val actions = Vector(
        new UpdateSchema(_.addColumn(Vector.empty, column, LongType, None)),
        new FastAppend(files.map(_.file))
      )
      Some(Plan(actions, Vector(Effect.Added(files)), _.schema.find(column).isDefined))
    }
  }

  /** Adds or removes a bucket partition field. */
  private object ChangeSpec extends Work {
    override def name: String = "change the partitioning"
    override def weight: Int = 1
    override def plan(desk: Desk): Option[Plan] = {
      def has(metadata: TableMetadata): Boolean = metadata.spec.fields.exists(_.transform.isInstanceOf[Bucket])
      val adds = !has(desk.metadata)
      val action =
        if (adds) new UpdateSpec(_.addField(Vector("id"), Bucket(2))) else new UpdateSpec(_.removeField("id_bucket_2"))
      Some(Plan(Vector(action, marker(desk)), shows = m => has(m) == adds))
    }
  }

  private object ChangeOrder extends Work {
    override def name: String = "change the sort order"
    override def weight: Int = 1
    override def plan(desk: Desk): Option[Plan] = {
      val fields = if (desk.metadata.sortOrder.fields.isEmpty) Vector(UnboundSortField(Vector("id"))) else Vector.empty
      Some(Plan(Vector(new UpdateSortOrder(fields), marker(desk)), shows = _.sortOrder.fields.size == fields.size))
    }
  }

  private object Upgrade extends Work {
    override def name: String = "upgrade"
    override def weight: Int = 1
    override def plan(desk: Desk): Option[Plan] =
      FormatVersion.all.find(_ > desk.metadata.formatVersion).map { version =>
        Plan(Vector(new UpgradeVersion(version), marker(desk)), shows = _.formatVersion >= version)
      }
  }

  val all: Seq[Work] =
    Seq(SetProperty, RemoveProperty, AddColumn, DropColumn, AddColumnAndRows, ChangeSpec, ChangeOrder, Upgrade)
}
