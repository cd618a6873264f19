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
  UpdatePartitionSpec,
  UpgradeVersion
}

/** Operations of simulated writers that change table metadata. Only [[AddColumnAndRows]] also adds rows. */
object MetadataWork {

  /**
   * Table property whose value is the operation number. It identifies commits that do not contain the number otherwise.
   */
  val Marker = "operation"

  def marker(state: WriterState): Action = new UpdateProperties(Map(Marker -> state.operation.toString))

  private object SetProperty extends Work {
    override def name: String = "set a property"
    override def plan(state: WriterState): Option[Plan] = {
      val key = s"p_${state.operation}"
      Some(Plan(Vector(new UpdateProperties(Map(key -> "set"))), hasChanges = _.properties.contains(key)))
    }
  }

  private object RemoveProperty extends Work {
    override def name: String = "remove a property"
    override def plan(state: WriterState): Option[Plan] =
      state.oneOf(state.metadata.properties.keys.filter(_.startsWith("p_")).toVector.sorted).map { key =>
        val action = new UpdateProperties(Map(Marker -> state.operation.toString), Set(key))
        Plan(Vector(action), hasChanges = m => !m.properties.contains(key))
      }
  }

  private object AddColumn extends Work {
    override def name: String = "add a column"
    override def plan(state: WriterState): Option[Plan] = {
      val column = s"c_${state.operation}"
      val action = new UpdateSchema(_.addColumn(Vector.empty, column, LongType, None))
      Some(Plan(Vector(action), hasChanges = _.schema.find(column).isDefined))
    }
  }

  private object DropColumn extends Work {
    override def name: String = "drop a column"
    override def plan(state: WriterState): Option[Plan] =
      state.oneOf(state.metadata.schema.fields.map(_.name).filter(_.startsWith("c_"))).map { column =>
        val action = new UpdateSchema(_.dropColumn(Vector(column)))
        Plan(Vector(action, marker(state)), hasChanges = _.schema.find(column).isEmpty)
      }
  }

  /** Adds a column and rows in one commit. */
  private object AddColumnAndRows extends Work {
    override def name: String = "add a column and rows"
    override def plan(state: WriterState): Option[Plan] = {
      val column = s"c_${state.operation}"
      val files = state.newFiles()
      val actions = Vector(
        new UpdateSchema(_.addColumn(Vector.empty, column, LongType, None)),
        new FastAppend(files.map(_.file))
      )
      Some(Plan(actions, Vector(Effect.Added(files)), _.schema.find(column).isDefined))
    }
  }

  /** Adds a bucket partition field, or removes it if it exists. */
  private object ChangeSpec extends Work {
    override def name: String = "change the partitioning"
    override def weight: Int = 1
    override def plan(state: WriterState): Option[Plan] = {
      def has(metadata: TableMetadata): Boolean = metadata.spec.fields.exists(_.transform.isInstanceOf[Bucket])
      val adds = !has(state.metadata)
      val action =
        if (adds) new UpdatePartitionSpec(_.addField(Vector("category"), Bucket(2)))
        else new UpdatePartitionSpec(_.removeField("category_bucket_2"))
      Some(Plan(Vector(action, marker(state)), hasChanges = m => has(m) == adds))
    }
  }

  private object ChangeOrder extends Work {
    override def name: String = "change the sort order"
    override def weight: Int = 1
    override def plan(state: WriterState): Option[Plan] = {
      val fields = if (state.metadata.sortOrder.fields.isEmpty) Vector(UnboundSortField(Vector("id"))) else Vector.empty
      val actions = Vector(new UpdateSortOrder(fields), marker(state))
      Some(Plan(actions, hasChanges = _.sortOrder.fields.size == fields.size))
    }
  }

  private object Upgrade extends Work {
    override def name: String = "upgrade"
    override def weight: Int = 1
    override def plan(state: WriterState): Option[Plan] =
      FormatVersion.all.find(_ > state.metadata.formatVersion).map { version =>
        Plan(Vector(new UpgradeVersion(version), marker(state)), hasChanges = _.formatVersion >= version)
      }
  }

  val all: Seq[Work] =
    Seq(SetProperty, RemoveProperty, AddColumn, DropColumn, AddColumnAndRows, ChangeSpec, ChangeOrder, Upgrade)
}
