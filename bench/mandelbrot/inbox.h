// Where the threads of a master leave what they hear, for the one that hands out tasks.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace mandelbrot {

template <class Item>
class Inbox {
  public:
    void push(Item item) {
        const std::lock_guard lock(mutex_);
        items_.push_back(std::move(item));
        filled_.notify_one();
    }

    Item pop() {
        std::unique_lock lock(mutex_);
        filled_.wait(lock, [this] { return !items_.empty(); });
        Item first(std::move(items_.front()));
        items_.pop_front();
        return first;
    }

  private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<Item> items_;
};

}  // namespace mandelbrot
