package iceberglite.spark.error

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.SparkContext

/**
 * A way in which programs stop a statement.
 *
 * @param cancelsJobs whether the jobs of the statement's job group are cancelled
 * @param interruptsTasks whether the threads of cancelled tasks are interrupted
 * @param interruptsDriver whether the thread that runs the statement is interrupted
 */
final private[error] case class Stop(
    name: String,
    cancelsJobs: Boolean,
    interruptsTasks: Boolean,
    interruptsDriver: Boolean
) {
  import Stop.{Group, Running}

  /**
   * Runs a statement in a job group. Afterwards, clears the job group and the interrupt status of the thread, so that
   * an interrupt does not affect the rest of the test.
   *
   * @throws IllegalStateException if the statement was interrupted
   */
  def run[A](context: SparkContext)(statement: => A): A = {
    context.setJobGroup(Group, "statement to stop", interruptsTasks)
    Running.synchronized(Running.set(true))
    try statement
    catch { case e: InterruptedException => throw new IllegalStateException("The thread was interrupted", e) }
    finally {
      // A task that stops the statement may still run; its interrupt must not come after this method.
      Running.synchronized(Running.set(false))
      context.clearJobGroup()
      Thread.interrupted()
    }
  }

  /** Returns the fault that stops the statement which the calling thread runs. */
  def fault(context: SparkContext): Fault.Stopped = {
    val driver = Thread.currentThread
    Fault.Stopped { () =>
      Running.synchronized {
        if (Running.get) {
          if (cancelsJobs) context.cancelJobGroup(Group)
          if (interruptsDriver) driver.interrupt()
        }
      }
    }
  }
}

private[error] object Stop {
  private val Group = "maintenance to stop"

  /** Whether a statement is running that can be stopped. The object is also the lock of statements and faults. */
  private val Running = new AtomicBoolean

  private val cancelJobs = Stop("cancelJobGroup", cancelsJobs = true, interruptsTasks = false, interruptsDriver = false)

  val all: Seq[Stop] = Seq(
    cancelJobs,
    cancelJobs.copy("cancelJobGroup with interrupted tasks", interruptsTasks = true),
    Stop("an interrupt", cancelsJobs = false, interruptsTasks = false, interruptsDriver = true),
    Stop("interrupts of Spark Connect", cancelsJobs = true, interruptsTasks = true, interruptsDriver = true)
  )
}
